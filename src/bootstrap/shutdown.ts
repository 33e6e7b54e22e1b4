import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Server } from 'node:http';
import { OpenStreams } from '../chat/stream/open-streams.js';
import { DrainState } from '../common/drain-state.js';
import type { Config } from '../config/config.js';
import type { ServiceLogger } from '../observability/logs/service-logger.js';

/** For the clients that do not read to take in the last event, once the grace is over. */
const FAREWELL_MS = 2_000;
const IDLE_CHECK_MS = 50;

/**
 * On SIGTERM or SIGINT: no new streams, those that run finish within the grace, everything is flushed, exit code 0.
 * A second signal ends the process at once.
 */
export function stopOnSignals(app: NestExpressApplication, config: Config, logger: ServiceLogger): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.log(`${signal}: finishing the streams that run`, 'Service');
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

/** The service goes on answering meanwhile: probes see that it is not ready, new streams are refused as `shutting_down`. */
async function drain(app: NestExpressApplication, { shutdownGraceMs }: Config): Promise<void> {
  app.get(DrainState, { strict: false }).begin();
  await app.get(OpenStreams, { strict: false }).drain(shutdownGraceMs, FAREWELL_MS);
  const server: Server = app.getHttpServer();
  // Connections between two requests need not be waited for, and the last events of others may still be on their way.
  const idle = setInterval(() => {
    server.closeIdleConnections();
  }, IDLE_CHECK_MS);
  const deadline = setTimeout(() => {
    server.closeAllConnections();
  }, FAREWELL_MS);
  await app.close();
  clearInterval(idle);
  clearTimeout(deadline);
}
