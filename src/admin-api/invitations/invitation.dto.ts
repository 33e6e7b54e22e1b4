import { IsInt, Max, Min } from 'class-validator';
import { ACCOUNT_ROLES, type AccountRole } from '../../accounts/account/account-role.js';
import type { Invitation } from '../../accounts/links/invitation.entity.js';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../../http/open-api/api-decorators.js';
import { OneOf, Optional, Text } from '../shared/body-rules.js';

const MAX_LENGTH = 1_000;
const MAX_DAYS = 30;
export const DEFAULT_DAYS = 7;

@ApiSchema({ name: 'NewInvitation' })
export class NewInvitationBody {
  @ApiProperty({ format: 'email' })
  @Text(MAX_LENGTH)
  readonly email!: string;

  @ApiPropertyOptional({ description: 'By default the default tier of the configuration.' })
  @Optional()
  @Text(MAX_LENGTH)
  readonly tier?: string;

  @ApiPropertyOptional({ enum: ACCOUNT_ROLES, default: 'member' })
  @Optional()
  @OneOf(ACCOUNT_ROLES)
  readonly role?: AccountRole;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_DAYS, default: DEFAULT_DAYS })
  @Optional()
  @Max(MAX_DAYS, { message: `must be at most ${MAX_DAYS}` })
  @Min(1, { message: 'must be at least 1' })
  @IsInt({ message: 'must be a whole number' })
  readonly valid_days?: number;
}

@ApiSchema({ name: 'Invitation' })
export class InvitationDto {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ format: 'email' })
  readonly email!: string;

  @ApiProperty()
  readonly tier!: string;

  @ApiProperty({ enum: ACCOUNT_ROLES })
  readonly role!: AccountRole;

  @ApiProperty({ format: 'date-time' })
  readonly created_at!: string;

  @ApiProperty({ format: 'date-time' })
  readonly expires_at!: string;
}

@ApiSchema({ name: 'CreatedInvitation' })
export class CreatedInvitationDto extends InvitationDto {
  @ApiProperty({ format: 'uri', description: 'The link works once. No other response shows it.' })
  readonly link!: string;
}

@ApiSchema({ name: 'InvitationList' })
export class InvitationListDto {
  @ApiProperty({ type: [InvitationDto] })
  readonly data!: readonly InvitationDto[];
}

export function wireInvitation(invitation: Invitation): InvitationDto {
  const { id, email, tier, role, createdAt, expiresAt } = invitation;
  return { id, email, tier, role, created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() };
}
