import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AccountsModule } from '../../../src/accounts/accounts.module.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService, type CreatedApiKey } from '../../../src/accounts/api-keys/api-keys.service.js';
import { CLOCK } from '../../../src/common/clock.js';
import type { Config, DatabaseConfig, TierConfig } from '../../../src/config/config.js';
import { ConfigModule } from '../../../src/config/config.module.js';
import { loadConfig } from '../../../src/config/load-config.js';
import { hashUsualPasswordOnce, PASSWORD } from '../../support/usual-password.js';

export const FREE: TierConfig = {
  name: 'free',
  requestsPerMinute: 20,
  concurrentStreams: 2,
  maxTokens: 4096,
};
export const PRO: TierConfig = {
  name: 'pro',
  requestsPerMinute: 600,
  concurrentStreams: 50,
  maxTokens: undefined,
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

/** A new account's new key. */
export async function createKey(app: INestApplicationContext, email: string, expiresAt?: Date): Promise<CreatedApiKey> {
  const account = await app.get(AccountsService).create({ email, password: PASSWORD });
  return app.get(ApiKeysService).create(account.id, { name: 'test', expiresAt });
}
