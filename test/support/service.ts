import { Module, type DynamicModule, type Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AccountsService } from '../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService, type CreatedApiKey } from '../../src/accounts/api-keys/api-keys.service.js';
import { AppModule } from '../../src/app.module.js';
import { createService } from '../../src/bootstrap/service.js';
import type { Config } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/load-config.js';
import type { Plugin } from '../../src/plugins/plugin-set.js';
import { configFile, routesTo, type Catalog } from './catalog.js';
import { pluginWith, type TestExtensions } from './extensions.js';
import { Leftovers, LeftoversOfService } from './leftovers.js';
import { runningServices } from './running-services.js';

export interface ServiceOptions extends Partial<Catalog>, TestExtensions {
  readonly plugins?: readonly Plugin[];
  /** The tiers by name. The first tier is the default tier of accounts. By default there is one tier without limits. */
  readonly tiers?: Readonly<Record<string, object>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Modules of the test, in addition to the modules of the service. */
  readonly modules?: readonly (Type | DynamicModule)[];
}

export interface NewKey {
  readonly tier?: string;
  /** The email of the account that owns the key. An account that does not exist is created. By default a new account. */
  readonly email?: string;
  readonly expiresAt?: Date;
}

/** The service in this process, with its own database in memory and its own port. */
export interface RunningService {
  /** The scheme, host and port of the service. */
  readonly origin: string;
  readonly app: NestExpressApplication;
  /** Checks that requests have released all resources. The check runs after each test. Some tests also run it in between. */
  readonly leftovers: Pick<Leftovers, 'none'>;
  createKey(options?: NewKey): Promise<CreatedApiKey>;
  stop(): Promise<void>;
}

@Module({})
class TeamModule {}

export async function startService({
  upstreams,
  models,
  currency,
  pluginConfigs,
  tiers,
  env,
  modules = [],
  plugins = [],
  ...extensions
}: ServiceOptions = {}): Promise<RunningService> {
  const none = routesTo(['http://127.0.0.1:9']);
  const catalog = { upstreams: upstreams ?? none.upstreams, models: models ?? none.models, currency, pluginConfigs };
  const config = configOf(configFile(catalog, tiers), env);
  const afterwards = new LeftoversOfService();
  const app = await createService(
    {
      module: TeamModule,
      imports: [AppModule.register({ config, plugins: [pluginWith(extensions), ...plugins] }), ...modules],
    },
    false,
  );
  await app.listen(config.port, config.host).catch(async (error: unknown) => {
    await app.close();
    throw error;
  });
  let accounts = 0;
  const running = { leftovers: new Leftovers(app) };
  runningServices.add(running);
  return {
    origin: await app.getUrl(),
    app,
    leftovers: running.leftovers,
    async createKey({ tier, email, expiresAt } = {}) {
      const known =
        email === undefined ? undefined : await app.get(AccountsService, { strict: false }).findByEmail(email);
      const account =
        known ??
        (await app
          .get(AccountsService, { strict: false })
          .create({ email: email ?? `account-${++accounts}@example.com`, password: 'correct horse battery', tier }));
      return app.get(ApiKeysService, { strict: false }).create(account.id, { name: 'test', expiresAt });
    },
    async stop() {
      await running.leftovers.none().finally(() => {
        runningServices.delete(running);
        app.getHttpServer().closeAllConnections();
        return app.close();
      });
      await afterwards.none(app);
    },
  };
}

function configOf(file: string, env: Readonly<Record<string, string>> = {}): Config {
  const folder = mkdtempSync(join(tmpdir(), 'chat-config-'));
  const path = join(folder, 'config.yaml');
  try {
    writeFileSync(path, file);
    return loadConfig({ DATABASE_URL: 'sqlite::memory:', PORT: '0', CONFIG_FILE: path, ...env });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
