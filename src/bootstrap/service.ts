import type { DynamicModule, LoggerService, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import type { Server } from 'node:http';
import { SessionMiddleware } from '../auth/session/session.middleware.js';
import { CONFIG, type Config } from '../config/config.js';
import { isProbe } from '../http/connections/client-connection.js';
import { ClientConnections } from '../http/connections/client-connections.js';
import { serveConnections } from '../http/connections/serve-connections.js';
import { ServiceErrorFilter } from '../http/errors/service-error.filter.js';
import { serveOpenApi } from '../http/open-api/serve-open-api.js';
import { begin, notFound } from '../http/routing/edge-of-routing.js';
import { LeanExpressAdapter } from '../http/routing/lean-express-adapter.js';
import { OUTSIDE_API_ROUTES } from '../http/routing/outside-api.decorator.js';
import { RequestWatch } from '../observability/requests/request-watch.js';

/** Longer than the 60 s after which most load balancers drop an idle connection: theirs must be the first to go. */
const KEEP_ALIVE_MS = 75_000;

/**
 * Makes the application of a module that holds `AppModule.register(…)`, ready to listen.
 *
 * @throws {ConfigError} {DatabaseError} when it cannot be served.
 */
export async function createService(
  module: Type | DynamicModule,
  logger: LoggerService | false,
): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(module, new LeanExpressAdapter(), {
    logger,
    abortOnError: false,
    // A guard reads the body, once the caller is known: see JsonBodyGuard.
    bodyParser: false,
  });
  const config = app.get<Config>(CONFIG);
  // All but the controllers that are `@OutsideApi()`.
  app.setGlobalPrefix('api/v1', { exclude: OUTSIDE_API_ROUTES });
  app
    .disable('x-powered-by')
    .set('etag', false)
    .set('query parser', 'simple')
    .set('trust proxy', config.trustedProxies);
  const sessions = app.get(SessionMiddleware, { strict: false });
  const watch = app.get(RequestWatch, { strict: false });
  // One middleware, as each costs every request.
  app.use((request: Request, response: Response, next: NextFunction) => {
    watch.use(request, response, () => {
      begin(request, response, () => {
        // What it says must not hang on a store, and so not on who asks either.
        if (isProbe(request)) next();
        else sessions.use(request, response, next);
      });
    });
  });
  const server: Server = app.getHttpServer();
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const connections = app.get(ClientConnections, { strict: false });
  serveConnections(server, connections, app.getHttpAdapter().getInstance());
  await app.init();
  // After the routes of the interface, which need not look past these then.
  if (config.apiDocs === 'open') {
    app.use('/api/docs', helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } }));
    serveOpenApi(app);
  }
  app.use(notFound(app.get(ServiceErrorFilter)));
  return app;
}
