import type { DynamicModule, Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { statSync } from 'node:fs';
import { DevelopmentAccounts } from '../../accounts/accounts/development-account.js';
import { CONFIG, type Config } from '../config/config.js';
import { startLogLevel, loadConfig } from '../config/load-config.js';
import { ConfigError, listenProblem } from '../config/config-error.js';
import { DatabaseError } from '../database/database-error.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { ServiceLogger } from '../logs/service-logger.js';
import { PluginsInUse } from '../http/surface/plugins-in-use.js';
import { isLoopback, listeningAddress, welcome } from './first-start-welcome.js';
import { endStart } from './end-start.js';

import { AuditTasks } from '../../accounts/audit/audit-sinks.js';
import { createService } from './service.js';
import { stopOnSignals } from './shutdown.js';
import { ConfigReload } from '../../models/config-reload.js';
import { startInterval } from '../common/timers/pace.js';

/** A longer list of models is only counted. */
const MAX_NAMED_MODELS = 20;
const HOW_TO_SIGN_IN =
  'This address is open to other machines. Their browsers can sign in only over HTTPS: put a proxy with TLS in front.';

/**
 * Starts the service as a process: listens for requests, and shuts down in order on a signal. If the service cannot start,
 * prints the reason to stderr and ends the process with exit code 1.
 *
 * @param module returns a module that imports `AppModule.register(…)`. It is a function, so that its errors are reported
 *   as well.
 * @since 1.0
 */
export async function bootstrap(module: () => Type | DynamicModule): Promise<void> {
  const logger = new ServiceLogger(startLogLevel());
  // The reader of the output may have ended. Without a listener, a failed write would end the process.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  // Without a listener, Node ends the process at once. A signal to read CONFIG_FILE again can arrive before the file is watched.
  process.on('SIGHUP', () => undefined);
  process.on('SIGUSR2', () => {
    logger.log('SIGUSR2: no effect', 'Service');
  });
  try {
    const app = await createService(module(), logger);
    const config = app.get<Config>(CONFIG);
    logger.setLevel(config.logLevel);
    await listen(app, config);
    stopOnSignals(app, config, logger);
    const logMissing = (): void => {
      logLeftOut(config, app.get(ModelCatalog, { strict: false }), logger);
    };
    logMissing();
    logger.log(`Using ${config.catalogName}: ${config.catalogHash}`, 'Config');
    watchConfig(app, () => {
      logMissing();
      void app.get(AuditTasks, { strict: false }).recordConfiguration();
    });
    const url = listeningAddress(app);
    logger.log(`Listening on ${url}`, 'Service');
    if (!isLoopback(url)) logger.log(HOW_TO_SIGN_IN, 'Service');
    endStart();
    const hasPages = app.get(PluginsInUse, { strict: false }).has('dashboard');
    await welcome(app.get(DevelopmentAccounts, { strict: false }), config, url, hasPages);
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

/** Tells the operator which variables are unset, and that no model is available. */
function logLeftOut({ catalogName, leftOut }: Config, catalog: ModelCatalog, logger: ServiceLogger): void {
  const { variables, models: missingModels } = leftOut;
  const names = variables.join(', ');
  if (catalog.all().length === 0) {
    logger.warn(`No model is available. ${catalogName} needs at least one of these variables: ${names}`, 'Service');
  } else if (variables.length > 0) {
    const missing =
      missingModels.length > MAX_NAMED_MODELS ? String(missingModels.length) : missingModels.join(', ') || 'none';
    logger.log(`Models of ${catalogName} that are not listed: ${missing}. Unset variables: ${names}`, 'Service');
  }
}

async function listen(app: NestExpressApplication, { host, port }: Config): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (error) {
    throw new ConfigError([listenProblem('PORT', (error as NodeJS.ErrnoException).code, host, port)]);
  }
}

function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof DatabaseError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

const CHECK_EVERY_MS = 1_000;

/**
 * Reads CONFIG_FILE again on SIGHUP, and when the file changes. The watch looks once a second, because events of the file
 * system do not reach all kinds of mounts, such as a ConfigMap of Kubernetes. A changed file is read when it has not changed
 * for one more second, so that a half-written file is not read.
 *
 * @param onReload called after each change of the configuration.
 */
export function watchConfig(app: NestExpressApplication, onReload: () => void): void {
  const reload = app.get(ConfigReload, { strict: false });
  const apply = (): void => {
    if (reload.apply(() => loadConfig())) onReload();
  };
  process.on('SIGHUP', apply);
  const { catalogPath } = app.get<Config>(CONFIG);
  if (catalogPath === undefined) return;
  let read = stateOf(catalogPath);
  let last = read;
  startInterval(() => {
    const now = stateOf(catalogPath);
    const isSettled = now === last;
    last = now;
    if (now === read || !isSettled) return;
    read = now;
    apply();
  }, CHECK_EVERY_MS).unref();
}

/** Returns a text that changes with the file. A missing file has a state, too. */
function stateOf(path: string): string {
  try {
    const { mtimeMs, ino, size } = statSync(path);
    return `${mtimeMs} ${ino} ${size}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}
