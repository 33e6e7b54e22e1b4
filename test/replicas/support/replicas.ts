import type { INestApplicationContext } from '@nestjs/common';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService, type CreatedApiKey } from '../../../src/accounts/api-keys/api-keys.service.js';
import { openAccountsApp } from '../../contract/accounts/accounts-app.js';
import { configFile, routesTo, type Timeouts } from '../../support/catalog.js';
import type { TestDatabase } from '../../support/database.js';
import { Installation, type SpawnedProcess } from '../../support/process.js';
import { prefer } from '../../support/program.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import type { SharedStores } from './stores.js';

const POSTGRES_PORT = 5432;
/** Before the tests: a process that a busy machine starves refuses requests as overloaded, whatever a test is about. */
const PRIORITY = -5;
const UNLIMITED = { requestsPerMinute: undefined, concurrentStreams: undefined, maxTokens: undefined, plugins: {} };

export interface ReplicasOptions {
  readonly count?: number;
  /** The first is the default tier. */
  readonly tiers?: Readonly<Record<string, object>>;
  /** Of all of them. */
  readonly env?: Readonly<Record<string, string>>;
  /** Of the model, in the format of CONFIG_FILE. */
  readonly price?: object;
  /** Of the provider. */
  readonly timeouts?: Timeouts;
  /** The receivers of events by name, in the format of CONFIG_FILE. */
  readonly webhooks?: Readonly<Record<string, object>>;
  /** Of one each, over those of all. */
  readonly envs?: readonly Readonly<Record<string, string>>[];
}

export interface Replica {
  readonly process: SpawnedProcess;
  readonly origin: string;
}

/** Real processes of the service that share PostgreSQL and Redis, each store behind a proxy that can get in the way. */
export class Replicas {
  readonly all: Replica[] = [];
  private accountCount = 0;

  private constructor(
    readonly postgres: TcpProxy,
    readonly redis: TcpProxy,
    readonly provider: ScriptedProvider,
    /** One more process on the database, past the proxy: what an operator, or another replica, does there. */
    readonly accounts: INestApplicationContext,
    private readonly database: TestDatabase,
    private readonly installation: Installation,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  static async start(stores: SharedStores, options: ReplicasOptions = {}): Promise<Replicas> {
    const { count = 3, tiers = { free: {} }, env = {}, envs = [], price, timeouts, webhooks } = options;
    const [postgres, redis, provider] = await Promise.all([
      TcpProxy.start(POSTGRES_PORT),
      TcpProxy.start(stores.redis.port),
      ScriptedProvider.start(),
    ]);
    const database = await stores.postgres.create();
    const names = Object.keys(tiers).map((name) => ({ name, ...UNLIMITED }));
    const accounts = await openAccountsApp(database.config, { tiers: names });
    const installation = await Installation.create(configFile(routesTo([provider], timeouts, price), tiers, webhooks));
    const url = new URL(database.config.type === 'postgres' ? database.config.url : '');
    url.port = String(postgres.port);
    const replicas = new Replicas(postgres, redis, provider, accounts, database, installation, {
      DATABASE_URL: url.toString(),
      REDIS_URL: `redis://127.0.0.1:${redis.port}/${stores.redis.database}`,
      ...env,
    });
    try {
      await Promise.all(Array.from({ length: count }, (_, index) => replicas.add(envs[index])));
      return replicas;
    } catch (error) {
      await replicas.stop();
      throw error;
    }
  }

  get origins(): readonly string[] {
    return this.all.map(({ origin }) => origin);
  }

  /** The environment of a replica whose stores are behind links of its own. */
  linked(postgres: TcpProxy, redis: TcpProxy): Readonly<Record<string, string>> {
    const [databaseUrl, redisUrl] = [this.env['DATABASE_URL'], this.env['REDIS_URL']].map((url) => new URL(url ?? ''));
    if (databaseUrl === undefined || redisUrl === undefined) throw new Error('The replicas have no stores.');
    databaseUrl.port = String(postgres.port);
    redisUrl.port = String(redis.port);
    return { DATABASE_URL: databaseUrl.toString(), REDIS_URL: redisUrl.toString() };
  }

  /** Starts one more; it is among {@link all} once it listens. */
  async add(env: Readonly<Record<string, string>> = {}): Promise<Replica> {
    const process = this.installation.start({ ...this.env, ...env });
    prefer(process.pid, PRIORITY);
    const replica = { process, origin: await process.origin() };
    this.all.push(replica);
    return replica;
  }

  remove(replica: Replica): void {
    this.all.splice(this.all.indexOf(replica), 1);
  }

  /** A new account's new key. */
  async createKey(tier?: string): Promise<CreatedApiKey & { readonly accountId: string; readonly email: string }> {
    const email = `account-${++this.accountCount}@example.com`;
    const { id } = await this.accounts.get(AccountsService).create({ email, password: 'correct horse battery', tier });
    return { accountId: id, email, ...(await this.accounts.get(ApiKeysService).create(id, { name: 'test' })) };
  }

  async stop(): Promise<void> {
    await this.installation.remove();
    await this.accounts.close();
    await Promise.all([this.postgres.stop(), this.redis.stop(), this.provider.stop()]);
    await this.database.drop();
  }
}
