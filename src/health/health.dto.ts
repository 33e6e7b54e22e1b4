import { ApiProperty, ApiPropertyOptional } from '../http/open-api/api-decorators.js';
import { ErrorDto } from '../http/open-api/api-errors.decorator.js';

export class HealthReport {
  @ApiProperty({ example: 'healthy' })
  readonly status!: string;

  @ApiProperty({ example: '1.0.0' })
  readonly version!: string;
}

export class ReadinessParts {
  @ApiProperty({ enum: ['up', 'down'] })
  readonly database!: 'up' | 'down';

  @ApiPropertyOptional({ enum: ['up', 'down'], description: 'Where one is configured. Requests go on without it.' })
  readonly redis?: 'up' | 'down';

  @ApiProperty({ description: 'Whether this process is stopping.' })
  readonly draining!: boolean;
}

export class ReadinessReport {
  @ApiProperty({ enum: ['ready', 'not_ready'] })
  readonly status!: 'ready' | 'not_ready';

  @ApiProperty()
  readonly parts!: ReadinessParts;

  @ApiPropertyOptional({ description: 'As in every error, when the status is not `ready`.' })
  readonly error?: ErrorDto;
}
