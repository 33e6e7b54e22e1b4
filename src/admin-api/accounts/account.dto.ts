import type { ListedAccount } from '../../accounts/accounts/account-directory.js';
import { ACCOUNT_ROLES, type AccountRole } from '../../accounts/account/account-role.js';
import { stateOf } from '../../accounts/accounts/account-states.js';
import { ApiProperty, ApiSchema } from '../../http/open-api/api-decorators.js';
import { UsageBudget } from '../../usage/reports/usage.dto.js';
import { PageDto } from '../shared/page.dto.js';

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
  const { id, email, tier, role, createdAt } = account;
  return { id, email, tier, role, state: stateOf(account), created_at: createdAt.toISOString() };
}
