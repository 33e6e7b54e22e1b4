import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '../../platform/common/service-error.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { AccountsService } from './accounts.service.js';

const EMAIL = 'dev@example.com';
const KEY_NAME = 'first start';

/** Show this to the person who started the service. The database stores only hashes of the password and the key. */
interface DevelopmentAccount {
  readonly email: string;
  /** `undefined`: the owner of the address signs in by single sign-on. */
  readonly password: string | undefined;
  readonly key: string;
}

/** Makes a new installation usable at once. Not for production, where no account may exist by default. */
@Injectable()
export class DevelopmentAccounts {
  constructor(
    private readonly accounts: AccountsService,
    private readonly apiKeys: ApiKeysService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Whether there is no account yet. */
  async isFirstStart(): Promise<boolean> {
    return !(await this.accounts.hasAny());
  }

  /** Creates an account with a random password and an API key. Returns `undefined` when any account exists already. */
  async ensureDevelopmentAccount(): Promise<DevelopmentAccount | undefined> {
    if (!(await this.isFirstStart())) return undefined;
    const password = this.config.passwords === 'on' ? randomBytes(15).toString('base64url') : undefined;
    try {
      const account = await this.accounts.create({ email: EMAIL, password });
      const { key } = await this.apiKeys.create(account.id, { name: KEY_NAME });
      return { email: account.email, password, key };
    } catch (error) {
      // Another process has created the account between the check and the insert.
      if (error instanceof ServiceError && error.code === 'invalid_request') return undefined;
      throw error;
    }
  }
}
