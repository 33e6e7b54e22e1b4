import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Account } from '../../src/accounts/account/account.entity.js';
import { AccountStates, type AccountState } from '../../src/accounts/accounts/account-states.js';
import { AccountsService } from '../../src/accounts/accounts/accounts.service.js';
import type { CreatedApiKey } from '../../src/accounts/api-keys/api-key-creation.js';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { PasswordReplacement } from '../../src/accounts/passwords/password-replacement.js';
import { PASSWORD } from '../support/usual-password.js';

export const NEXT_HASH = 'another-hash';
export const HOUR_MS = 3_600_000;

/** What is stored of an account. */
export interface StoredCredentials {
  readonly account: AccountState;
  readonly hasOldPassword: boolean;
  readonly sessions: number;
  /** Keys that work now. */
  readonly activeKeys: number;
  readonly allKeys: number;
  /** Keys that work in two hours. */
  readonly lastingKeys: number;
}

/** An account with one key and one session. */
export class CredentialsStage {
  private constructor(
    private readonly app: INestApplicationContext,
    readonly source: DataSource,
    readonly account: Account,
    readonly key: CreatedApiKey,
  ) {}

  static async open(app: INestApplicationContext): Promise<CredentialsStage> {
    const source = app.get(DataSource);
    const email = `${randomUUID()}@example.com`;
    const account = await app.get(AccountsService).create({ email, password: PASSWORD });
    const key = await app.get(ApiKeysService).create(account.id, { name: 'laptop' });
    const now = Date.now();
    const [created, expires] = [new Date(now).toISOString(), new Date(now + 24 * HOUR_MS).toISOString()];
    await source.query(
      `INSERT INTO sessions (id, account_id, created_at, last_seen_at, expires_at)
       VALUES ('${randomUUID()}', '${account.id}', '${created}', '${created}', '${expires}')`,
    );
    return new CredentialsStage(app, source, account, key);
  }

  rotate(overlapMs: number): Promise<unknown> {
    return this.app.get(ApiKeysService).rotate(this.key.id, this.account.id, { overlapMs });
  }

  replacePassword(): Promise<unknown> {
    return this.app.get(PasswordReplacement, { strict: false }).replace(this.account, NEXT_HASH, { revokeKeys: true });
  }

  disable(): Promise<unknown> {
    return this.app.get(AccountStates, { strict: false }).disable(this.account.email);
  }

  delete(): Promise<unknown> {
    return this.app.get(AccountStates, { strict: false }).delete(this.account.email);
  }

  async stored(): Promise<StoredCredentials> {
    const { source } = this;
    const { id, passwordHash } = this.account;
    const count = async (from: string): Promise<number> =>
      Number((await source.query<{ n: string }[]>(`SELECT COUNT(*) AS n FROM ${from}`))[0]?.n);
    const worksAt = (ms: number) =>
      `api_keys WHERE account_id = '${id}' AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > '${new Date(ms).toISOString()}')`;
    const isThere = (await count(`accounts WHERE id = '${id}'`)) === 1;
    const isActive = (await count(`accounts WHERE id = '${id}' AND disabled_at IS NULL`)) === 1;
    return {
      account: isActive ? 'active' : isThere ? 'disabled' : 'deleted',
      hasOldPassword: (await count(`accounts WHERE id = '${id}' AND password_hash = '${passwordHash}'`)) === 1,
      sessions: await count(`sessions WHERE account_id = '${id}'`),
      activeKeys: await count(worksAt(Date.now())),
      allKeys: await count(`api_keys WHERE account_id = '${id}'`),
      lastingKeys: await count(worksAt(Date.now() + 2 * HOUR_MS)),
    };
  }
}
