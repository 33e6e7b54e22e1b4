import { ApiProperty, ApiPropertyOptional } from '../http/open-api/api-decorators.js';
import { ErrorDto } from '../http/open-api/api-errors.decorator.js';

export class HealthReport {
  @ApiProperty({ example: 'healthy' })
  readonly status!: string;

  @ApiProperty({ example: '1.0.0' })
  readonly version!: string;
}

/** Plugins add parts with names of their own, with the values `up` and `down`. */
export class ReadinessParts {
  @ApiProperty({ enum: ['up', 'down'] })
  readonly database!: 'up' | 'down';

  @ApiPropertyOptional({
    enum: ['up', 'down'],
    description:
      'Present if Redis is configured. `down` if Redis, or a master of a Redis Cluster, is unavailable. The service keeps answering then.',
  })
  readonly redis?: 'up' | 'down';

  @ApiPropertyOptional({
    enum: ['not_shared'],
    description:
      'Present if several processes use the database without Redis. Each of them counts the limits of the tiers for itself.',
  })
  readonly limits?: 'not_shared';

  @ApiProperty({ description: 'Whether this process is stopping.' })
  readonly draining!: boolean;
}

export class ReadinessReport {
  @ApiProperty({ enum: ['ready', 'not_ready'] })
  readonly status!: 'ready' | 'not_ready';

  @ApiProperty()
  readonly parts!: ReadinessParts;

  @ApiPropertyOptional({ description: 'Present if the status is `not_ready`. The same format as in every error.' })
  readonly error?: ErrorDto;
}
