import { ACCOUNT_ROLES, type AccountRole } from '../../accounts/account/account-role.js';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../../http/open-api/api-decorators.js';
import { Flag, OneOf, Optional, Text } from '../shared/body-rules.js';

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
export class AccountChangesBody {
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
