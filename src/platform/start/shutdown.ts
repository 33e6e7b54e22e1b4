import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Server } from 'node:http';
import { OpenStreams } from '../../chat/stream/open-streams.js';
import { DrainState } from '../common/drain-state.js';
import { startInterval, startTimer } from '../common/timers/pace.js';
import type { Config } from '../config/config.js';
import type { ServiceLogger } from '../logs/service-logger.js';

/** The time after the grace period in which clients that do not read can still receive the last event. */
const LINGER_MS = 2_000;
const IDLE_CHECK_MS = 50;

/**
 * Shuts down on SIGTERM or SIGINT: accepts no new streams, lets the running streams finish within the grace period, flushes
 * all data, and exits with code 0. A second signal ends the process at once.
 */
export function stopOnSignals(app: NestExpressApplication, config: Config, logger: ServiceLogger): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.log(`${signal}: waiting for running streams to finish`, 'Service');
    drain(app, config).then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error(error, 'Service');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}

/**
 * Drains and closes the service. It still answers requests meanwhile: probes see that it is not ready, and new streams are refused with
 * `shutting_down`. Requests that were admitted before go on.
 */
export async function drain(app: NestExpressApplication, { shutdownGraceMs }: Config): Promise<void> {
  app.get(DrainState, { strict: false }).begin();
  await app.get(OpenStreams, { strict: false }).drain(shutdownGraceMs, LINGER_MS);
  const server: Server = app.getHttpServer();
  // Closes idle connections at once. The other connections may still have to send their last events.
  const idle = startInterval(() => {
    server.closeIdleConnections();
  }, IDLE_CHECK_MS);
  const deadline = startTimer(() => {
    server.closeAllConnections();
  }, LINGER_MS);
  await app.close();
  clearInterval(idle);
  clearTimeout(deadline);
}
