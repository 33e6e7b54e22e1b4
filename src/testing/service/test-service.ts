import { Module, type DynamicModule, type LoggerService, type Provider, type Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { randomUUID } from 'node:crypto';
import { AccountRoles } from '../../accounts/accounts/account-roles.js';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { ApiKeysService, type CreatedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { SessionsService } from '../../accounts/sessions/sessions.service.js';
import { SESSION_COOKIE } from '../../auth/session/session-cookie.js';
import { AppModule } from '../../app.module.js';
import { ConfigReload } from '../../models/config-reload.js';
import { createService, createServiceBy, type CreateApplication } from '../../platform/start/service.js';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { usePace } from '../../platform/common/timers/pace.js';
import { EventLoop } from '../../platform/common/event-loop/event-loop.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { drain } from '../../platform/start/shutdown.js';
import { MetricsAddress } from '../../plugin-api/metrics.js';
import type { Plugin } from '../../plugin-api/plugin-set.js';
import { TestLoggers } from './test-loggers.js';
import { testConfig } from './test-config.js';

/**
 * What differs between the service of a test and the service with its defaults.
 *
 * @since 1.0
 */
export interface TestServiceOptions {
  /** The modules with `@ChatPlugin`, or their dynamic modules. By default none. */
  readonly plugins?: readonly Plugin[];
  /** Modules in addition to the modules of the service and of the plugins. */
  readonly imports?: readonly (Type | DynamicModule)[];
  /**
   * Providers that replace the providers of the same tokens, wherever they are: `{ provide: Mailer, useValue: fake }`. Needs
   * the package `@nestjs/testing`.
   */
  readonly overrides?: readonly Exclude<Provider, Type>[];
  /** The content of CONFIG_FILE, as text or as an object. By default the built-in catalog. */
  readonly config?: string | object;
  /**
   * The environment variables. The variables of the process do not count. By default, `DATABASE_URL` is a database in memory
   * and `PORT` is a free port.
   */
  readonly env?: Readonly<Record<string, string>>;
  /** Returns the time in milliseconds since 1970, for everything that uses `CLOCK`. Timers run as usual. Needs `@nestjs/testing`. */
  readonly clock?: Clock;
  /**
   * How many times faster the timers and time limits of the service go: with 20, the service waits 500 ms where it waits 10 s
   * otherwise. By default 1. The pace holds for all services of the process, until this service stops. Everything that follows a
   * calendar goes as usual: the clock, the windows of limits and of tokens, and what Redis and the database count themselves.
   *
   * @since 1.0
   */
  readonly pace?: number | undefined;
  /** Gets what all services of the process log, as Nest has one logger for all. By default, nothing is logged. */
  readonly logger?: LoggerService | false;
}

/**
 * The account and the expiry date of a key for a test.
 *
 * @since 1.0
 */
export interface TestKeyOptions {
  /** The tier of a new account. By default the default tier. */
  readonly tier?: string | undefined;
  /** The email of the account that owns the key. An account that does not exist is created. By default a new account. */
  readonly email?: string | undefined;
  /** By default the key does not expire. */
  readonly expiresAt?: Date | undefined;
}

/**
 * An account, and the session of a browser that is signed in to the account.
 *
 * @since 1.0
 */
export interface TestSession {
  readonly accountId: string;
  readonly email: string;
  readonly sessionId: string;
  /** The name and value of the session cookie. */
  readonly cookie: { readonly name: string; readonly value: string };
}

/**
 * A service in this process, with its own database and its own port.
 *
 * @since 1.0
 */
export interface TestService {
  /** The scheme, host and port, such as `http://127.0.0.1:49152`. */
  readonly origin: string;
  /** The application, for example for `app.get(MyService, { strict: false })`. */
  readonly app: NestExpressApplication;
  /** Creates an API key. The member `key` of the result is the secret. */
  createKey(options?: TestKeyOptions): Promise<CreatedApiKey>;
  /** Creates a session, for a test of a page, by default with the role that the account has. A new account is no operator. */
  createSession(options?: Omit<TestKeyOptions, 'expiresAt'> & { readonly role?: 'operator' }): Promise<TestSession>;
  /** Applies another content of CONFIG_FILE, as SIGHUP does. Returns whether it was valid and has changed something. */
  reconfigure(config: string | object): boolean;
  /** Returns the scheme, host and port of `/metrics`. Throws an error without the variable `METRICS_PORT`. */
  metricsOrigin(): string;
  /**
   * Stops the service as SIGTERM does: it refuses new streams, lets those that run end within `SHUTDOWN_GRACE_SECONDS`, and closes.
   */
  drain(): Promise<void>;
  /** Closes all connections, and stops the service with all shutdown hooks. */
  stop(): Promise<void>;
}

@Module({})
class TestModule {}

const loggers = new TestLoggers();

/**
 * Starts the service as `bootstrap` does: the same guards, filters, middleware, connections and routes. Several services can run
 * in one process. Stop each of them at the end of the test.
 *
 * @since 1.0
 *
 * @example
 * ```ts
 * const service = await createTestService({ plugins: [MyPlugin], config: configFor(provider) });
 * const { key } = await service.createKey();
 * ```
 * @throws {ConfigError} if the configuration or a plugin is invalid.
 */
export async function createTestService({
  plugins = [],
  imports = [],
  overrides = [],
  config: file,
  env,
  clock,
  pace,
  logger = false,
}: TestServiceOptions = {}): Promise<TestService> {
  const config = testConfig(file, env);
  const module = { module: TestModule, imports: [AppModule.register({ config, plugins }), ...imports] };
  const replaced = clock === undefined ? overrides : [...overrides, { provide: CLOCK, useValue: clock }];
  const removeLogger = loggers.add(logger);
  const endPace = pace === undefined ? undefined : usePace(pace);
  const release = (): void => {
    removeLogger();
    endPace?.();
  };
  const create = async (): Promise<NestExpressApplication> => {
    const created =
      replaced.length === 0
        ? await createService(module, loggers)
        : await createServiceBy(await creatorWith(replaced), module, loggers);
    await created.listen(config.port, config.host).catch(async (error: unknown) => {
      await created.close();
      throw error;
    });
    return created;
  };
  const app = await create().catch((error: unknown) => {
    release();
    throw error;
  });
  // The event loop also waits for the tests, and for other work of the machine. No stream is refused for that.
  app.get(EventLoop, { strict: false }).unwatch();
  const accounts = app.get(AccountsService, { strict: false });
  const keys = app.get(ApiKeysService, { strict: false });
  // Services that share a database create different accounts.
  const suffix = randomUUID().slice(0, 8);
  let created = 0;
  const accountOf = async ({ tier, email = `account-${++created}-${suffix}@example.com` }: TestKeyOptions) =>
    (await accounts.findByEmail(email)) ?? accounts.create({ email, password: 'correct horse battery', tier });
  return {
    origin: await app.getUrl(),
    app,
    async createKey({ expiresAt, ...owner } = {}) {
      return keys.create((await accountOf(owner)).id, { name: 'test', expiresAt });
    },
    async createSession({ role, ...owner } = {}) {
      const { id, email } = await accountOf(owner);
      if (role !== undefined) await app.get(AccountRoles, { strict: false }).set({ id }, role);
      const { token, sessionId } = await app.get(SessionsService, { strict: false }).create(id);
      return { accountId: id, email, sessionId, cookie: { name: SESSION_COOKIE, value: token } };
    },
    reconfigure: (changed) => app.get(ConfigReload, { strict: false }).apply(() => testConfig(changed, env)),
    metricsOrigin: () => app.get(MetricsAddress, { strict: false }).origin,
    drain: () => drain(app, app.get<Config>(CONFIG)).finally(release),
    async stop() {
      app.getHttpServer().closeAllConnections();
      await app.close().finally(release);
    },
  };
}

/**
 * Returns what creates the application with these providers in place of the providers of the same tokens.
 *
 * @throws {Error} without the package `@nestjs/testing`.
 */
export async function creatorWith(overrides: readonly Exclude<Provider, Type>[]): Promise<CreateApplication> {
  const { Test } = await import('@nestjs/testing').catch((cause: unknown) => {
    throw new Error('Install @nestjs/testing to override providers or the clock.', { cause });
  });
  return async (module, adapter, options) => {
    const builder = Test.createTestingModule({ imports: [module] });
    if (options.logger) builder.setLogger(options.logger as never);
    for (const override of overrides) {
      const token = builder.overrideProvider(override.provide);
      if ('useClass' in override) token.useClass(override.useClass);
      else if ('useFactory' in override) {
        token.useFactory({ factory: override.useFactory as () => unknown, inject: (override.inject ?? []) as never[] });
      } else if ('useValue' in override) token.useValue(override.useValue);
      else throw new Error('An override needs useValue, useClass or useFactory.');
    }
    const compiled = await builder.compile();
    return compiled.createNestApplication<NestExpressApplication>(adapter, options);
  };
}
