import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ServiceError } from '../../common/service-error.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { AccountsService } from './accounts.service.js';

const EMAIL = 'dev@example.com';
const KEY_NAME = 'first start';

/** To be shown to whoever started the service; only hashes are kept. */
export interface DevelopmentAccount {
  readonly email: string;
  readonly password: string;
  readonly key: string;
}

/** Makes a fresh installation usable at once. Not for production: nobody may be let in there by default. */
@Injectable()
export class FirstRun {
  constructor(
    private readonly accounts: AccountsService,
    private readonly apiKeys: ApiKeysService,
  ) {}

  /** An account with a random password and a key, or `undefined` when there is an account already. */
  async ensureDevelopmentAccount(): Promise<DevelopmentAccount | undefined> {
    if (await this.accounts.hasAny()) return undefined;
    const password = randomBytes(15).toString('base64url');
    try {
      const account = await this.accounts.create({ email: EMAIL, password });
      const { key } = await this.apiKeys.create(account.id, { name: KEY_NAME });
      return { email: account.email, password, key };
    } catch (error) {
      // Another process has made it between the question and the insert.
      if (error instanceof ServiceError && error.code === 'invalid_request') return undefined;
      throw error;
    }
  }
}
