import { ACCOUNT_ROLES, type AccountRole } from '../../../../accounts/account/account.entity.js';
import type { ListedAccount } from '../../../../accounts/accounts/account-directory.js';
import { stateOf } from '../../../../accounts/accounts/account-states.js';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../../../../platform/http/open-api/api-decorators.js';
import { UsageBudget } from '../../../../usage/reports/usage.dto.js';
import { Flag, OneOf, Optional, Text } from '../shared/body-rules.js';
import { MadeBody } from '../shared/made.js';
import { PageDto } from '../shared/list-query.js';

/** Longer than every valid address, name of a tier and password. The services check the rest. */
const MAX_LENGTH = 1_000;

@ApiSchema({ name: 'NewAdminAccount' })
export class NewAccountBody {
  @ApiProperty({ format: 'email' })
  @Text(MAX_LENGTH)
  readonly email!: string;

  @ApiPropertyOptional({
    description: 'Without a password, the person signs in by single sign-on, or by a link for a new password.',
  })
  @Optional()
  @Text(MAX_LENGTH)
  readonly password?: string;

  @ApiPropertyOptional({ description: 'By default the default tier of the configuration.' })
  @Optional()
  @Text(MAX_LENGTH)
  readonly tier?: string;
}

@ApiSchema({ name: 'AdminAccountChanges' })
export class AccountChangesBody extends MadeBody {
  @ApiPropertyOptional()
  @Optional()
  @Text(MAX_LENGTH)
  readonly tier?: string;

  @ApiPropertyOptional({ enum: ACCOUNT_ROLES })
  @Optional()
  @OneOf(ACCOUNT_ROLES)
  readonly role?: AccountRole;

  @ApiPropertyOptional({ description: 'A disabled account has no sessions, and its API keys are refused.' })
  @Optional()
  @Flag()
  readonly disabled?: boolean;
}

@ApiSchema({ name: 'AdminSignInReset' })
export class SignInResetBody {
  @ApiPropertyOptional({ default: false, description: 'Also revokes all active API keys of the account.' })
  @Optional()
  @Flag()
  readonly revoke_keys?: boolean;
}

@ApiSchema({ name: 'NewAdminPassword' })
export class NewPasswordBody extends SignInResetBody {
  @ApiProperty()
  @Text(MAX_LENGTH)
  readonly password!: string;
}

@ApiSchema({ name: 'AdminAccount' })
export class AccountDto {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ format: 'email' })
  readonly email!: string;

  @ApiProperty({ description: 'The name of a tier of the configuration.' })
  readonly tier!: string;

  @ApiProperty({ enum: ACCOUNT_ROLES })
  readonly role!: AccountRole;

  @ApiProperty({
    format: 'uuid',
    nullable: true,
    description:
      'The id of the operator, or of the operator key, that has made the account an operator. `null`: it is no operator, or the ' +
      'admin command or single sign-on has.',
  })
  readonly operator_by!: string | null;

  @ApiProperty({ enum: ['active', 'disabled'] })
  readonly state!: 'active' | 'disabled';

  @ApiProperty({ format: 'date-time' })
  readonly created_at!: string;
}

@ApiSchema({ name: 'AdminAccountWithBudget' })
export class AccountWithBudgetDto extends AccountDto {
  @ApiProperty({ type: UsageBudget, nullable: true, description: '`null`: the tier has no budget.' })
  readonly budget!: UsageBudget | null;
}

@ApiSchema({ name: 'AdminAccountPage' })
export class AccountPageDto extends PageDto {
  @ApiProperty({ type: [AccountDto] })
  readonly data!: readonly AccountDto[];
}

export function wireAccount(account: ListedAccount): AccountDto {
  const { id, email, tier, role, operatorBy, createdAt } = account;
  const state = stateOf(account);
  return { id, email, tier, role, operator_by: operatorBy, state, created_at: createdAt.toISOString() };
}

@ApiSchema({ name: 'AdminRevokedKeys' })
export class RevokedKeysDto {
  @ApiProperty({ type: 'integer', description: 'How many API keys were revoked.' })
  readonly revoked_keys!: number;
}

@ApiSchema({ name: 'AdminEndedSessions' })
export class EndedSessionsDto {
  @ApiProperty({ type: 'integer', description: 'How many sessions have ended.' })
  readonly ended!: number;
}

@ApiSchema({ name: 'AdminLink' })
export class LinkDto {
  @ApiProperty({ format: 'uri', description: 'The link works once. No other response shows it.' })
  readonly link!: string;

  @ApiProperty({ format: 'date-time' })
  readonly expires_at!: string;
}
