import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { afterAll, beforeAll } from 'vitest';
import { AccountsModule } from '../../../src/accounts/accounts.module.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService, type CreatedApiKey } from '../../../src/accounts/api-keys/api-keys.service.js';
import { CLOCK } from '../../../src/platform/common/clock.js';
import type { Config, DatabaseConfig, TierConfig } from '../../../src/platform/config/config.js';
import { ConfigModule } from '../../../src/platform/config/config.module.js';
import { loadConfig } from '../../../src/platform/config/load-config.js';
import type { TestDatabase, TestEngine } from '../../support/database.js';
import { hashUsualPasswordOnce, PASSWORD } from '../../support/usual-password.js';

export const FREE: TierConfig = {
  name: 'free',
  requestsPerMinute: 20,
  concurrentStreams: 2,
  maxTokens: 4096,
  plugins: {},
};
export const PRO: TierConfig = {
  name: 'pro',
  requestsPerMinute: 600,
  concurrentStreams: 50,
  maxTokens: undefined,
  plugins: {},
};

export interface AccountsAppOptions {
  readonly tiers?: readonly TierConfig[];
  readonly now?: () => number;
}

/** One process of the service, as far as accounts go. Several may open the same database. */
export async function openAccountsApp(
  database: DatabaseConfig,
  { tiers = [FREE, PRO], now = () => Date.now() }: AccountsAppOptions = {},
): Promise<INestApplicationContext> {
  const config: Config = {
    ...loadConfig({}),
    database,
    tiers: new Map(tiers.map((tier) => [tier.name, tier])),
    defaultTier: tiers[0] ?? FREE,
  };
  const module = await Test.createTestingModule({ imports: [ConfigModule.forRoot(config), AccountsModule] })
    .overrideProvider(CLOCK)
    .useValue(now)
    .compile();
  hashUsualPasswordOnce(module);
  return module.init();
}

/** One or two processes of the service with a database of their own, for all tests of a suite. */
export class AccountsSuite {
  database!: TestDatabase;
  app!: INestApplicationContext;
  /** The second process. Its clock is the real one. */
  other!: INestApplicationContext;

  /** Returns a provider of `app`. */
  get get(): INestApplicationContext['get'] {
    return this.app.get.bind<INestApplicationContext['get']>(this.app);
  }
}

/** Opens the processes before the tests of the surrounding suite, and closes them afterwards. */
export function accountsSuite(
  engine: TestEngine,
  { processes = 1, ...options }: AccountsAppOptions & { readonly processes?: 1 | 2 } = {},
): AccountsSuite {
  const suite = new AccountsSuite();
  beforeAll(async () => {
    suite.database = await engine.create();
    suite.app = await openAccountsApp(suite.database.config, options);
    if (processes === 2) suite.other = await openAccountsApp(suite.database.config);
  });
  afterAll(async () => {
    await Promise.all([suite.app, ...(processes === 2 ? [suite.other] : [])].map((app) => app.close()));
    await suite.database.drop();
  });
  return suite;
}

/** A new account's new key. */
export async function createKey(
  app: INestApplicationContext,
  email: string,
  expiresAt?: Date,
): Promise<CreatedApiKey & { readonly accountId: string }> {
  const { id: accountId } = await app.get(AccountsService).create({ email, password: PASSWORD });
  return { ...(await app.get(ApiKeysService).create(accountId, { name: 'test', expiresAt })), accountId };
}
