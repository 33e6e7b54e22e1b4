import { UsageCounts } from '../../usage/reports/usage.dto.js';
import { ApiProperty, ApiSchema } from '../../http/open-api/api-decorators.js';
import { PageDto } from '../shared/page.dto.js';

const NULLABLE_TEXT = { type: 'string', nullable: true } as const;

@ApiSchema({ name: 'AdminUsage' })
export class UsageRowDto extends UsageCounts {
  @ApiProperty({ format: 'date', description: 'The UTC day on which the streams started.' })
  readonly day!: string;

  @ApiProperty()
  readonly account_id!: string;

  @ApiProperty({ ...NULLABLE_TEXT, description: '`null` for a deleted account.' })
  readonly email!: string | null;

  @ApiProperty()
  readonly model!: string;

  @ApiProperty({ ...NULLABLE_TEXT, description: '`null` for requests without an API key.' })
  readonly key_id!: string | null;

  @ApiProperty({ ...NULLABLE_TEXT, description: 'The first characters of the key.' })
  readonly key_prefix!: string | null;

  @ApiProperty({ ...NULLABLE_TEXT, description: '`null` also for a key of a deleted account.' })
  readonly key_name!: string | null;

  @ApiProperty({ ...NULLABLE_TEXT, example: 'USD' })
  readonly currency!: string | null;
}

@ApiSchema({ name: 'AdminUsagePage' })
export class UsagePageDto extends PageDto {
  @ApiProperty({ type: [UsageRowDto] })
  readonly data!: readonly UsageRowDto[];
}
