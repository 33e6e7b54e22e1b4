import { wireEntry, type AuditEntry } from '../../accounts/audit/audit-log.js';
import { ApiProperty, ApiSchema } from '../../http/open-api/api-decorators.js';
import { PageDto } from '../shared/page.dto.js';

const VALUES = { type: 'object', additionalProperties: true, nullable: true } as const;

@ApiSchema({ name: 'AuditEntry' })
export class AuditEntryDto {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty({ format: 'date-time' })
  readonly at!: string;

  @ApiProperty({ description: 'Who made the change.', example: 'operator-key:5f0f3b6c-… (portal)' })
  readonly actor!: string;

  @ApiProperty({ example: 'key.created' })
  readonly action!: string;

  @ApiProperty({ description: 'What was changed.', example: 'key:0b6e7a52-…' })
  readonly target!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'The address of the client, or the user of a command.' })
  readonly source!: string | null;

  @ApiProperty({ ...VALUES, description: 'The changed values before the change.' })
  readonly before!: unknown;

  @ApiProperty({ ...VALUES, description: 'The changed values after the change.' })
  readonly after!: unknown;
}

@ApiSchema({ name: 'AuditPage' })
export class AuditPageDto extends PageDto {
  @ApiProperty({ type: [AuditEntryDto] })
  readonly data!: readonly AuditEntryDto[];
}

export function wireAuditEntry(entry: AuditEntry): AuditEntryDto {
  return { id: entry.id, ...wireEntry(entry) };
}
