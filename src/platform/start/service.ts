import type { DynamicModule, LoggerService, NestApplicationOptions, Type } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import type { Server } from 'node:http';
import { Extensions } from '../common/extensions/extensions.js';
import { realMs } from '../common/timers/pace.js';
import { describeStrategies, PLUGIN_STRATEGIES } from '../../auth/strategies/all-strategies.js';
import { SessionMiddleware } from '../../auth/session/session.middleware.js';
import { CONFIG, type Config } from '../config/config.js';
import { ConfigError } from '../config/config-error.js';
import { isProbe, type RequestHandler } from '../http/connections/client-connection.js';
import { ClientConnections } from '../http/connections/client-connections.js';
import { serveConnections } from '../http/connections/serve-connections.js';
import { CrossOrigin } from '../http/cross-origin/cross-origin.js';
import { ServiceErrorFilter } from '../http/errors/service-error.filter.js';
import {
  DEFINED_ERRORS,
  describeErrors,
  describeResponses,
  describeChatRequest,
} from '../http/open-api/defined-errors.js';
import { API_DESCRIPTIONS, serveOpenApi } from '../http/open-api/serve-open-api.js';
import { directRoutesBefore } from '../http/routing/direct-routes.js';
import { begin, notFound, withOneVersion } from '../http/routing/outer-middleware.js';
import { LeanExpressAdapter } from '../http/routing/lean-express-adapter.js';
import { OUTSIDE_API_ROUTES } from '../http/surface/surface.decorator.js';
import { Surfaces } from '../http/surface/surfaces.js';
import { RequestWatch } from './request-watch.js';

/**
 * The time after which an idle connection is closed. It is longer than the 60 s of most load balancers, because the load
 * balancer must close an idle connection first.
 */
const KEEP_ALIVE_MS = 75_000;
const API_PREFIX = 'api/v1';

/** Creates the application of Nest from its module. */
export type CreateApplication = (
  module: Type | DynamicModule,
  adapter: LeanExpressAdapter,
  options: NestApplicationOptions,
) => Promise<NestExpressApplication>;

/**
 * Creates the application from a module that imports `AppModule.register(…)`. The application is ready to listen.
 *
 * @throws {ConfigError} if the configuration is invalid.
 * @throws {DatabaseError} if the database cannot be used.
 */
export function createService(
  module: Type | DynamicModule,
  logger: LoggerService | false,
): Promise<NestExpressApplication> {
  return createServiceBy((...given) => NestFactory.create<NestExpressApplication>(...given), module, logger);
}

/** As {@link createService}, with another way to create the application: tests replace providers. */
export async function createServiceBy(
  create: CreateApplication,
  module: Type | DynamicModule,
  logger: LoggerService | false,
): Promise<NestExpressApplication> {
  const app = await create(module, new LeanExpressAdapter(), {
    logger,
    abortOnError: false,
    // A guard reads the body when the caller is known: see RequestBodyGuard.
    bodyParser: false,
  });
  const config = app.get<Config>(CONFIG);
  const surfaces = app.get(Surfaces, { strict: false });
  surfaces.removeDisabled(config);
  surfaces.refuseTakenRoutes();
  // The prefix applies to all controllers except those that are `@OutsideApi()`.
  app.setGlobalPrefix(API_PREFIX, { exclude: OUTSIDE_API_ROUTES });
  app
    .disable('x-powered-by')
    .set('etag', false)
    .set('query parser', 'simple')
    .set('trust proxy', config.trustedProxies);
  const crossOrigin = new CrossOrigin(config, surfaces);
  const sessions = app.get(SessionMiddleware, { strict: false });
  const watch = app.get(RequestWatch, { strict: false });
  const beginWatched = (request: Request, response: Response, next: NextFunction): void => {
    watch.use(request, response, () => {
      begin(request, response, () => {
        if (!crossOrigin.handle(request, response)) next();
      });
    });
  };
  // There is only one middleware, because every middleware costs time on every request.
  app.use((request: Request, response: Response, next: NextFunction) => {
    beginWatched(request, response, () => {
      // A probe skips the session, because its answer must not depend on a store or on the caller.
      if (isProbe(request)) next();
      else sessions.use(request, response, next);
    });
  });
  const server: Server = app.getHttpServer();
  server.keepAliveTimeout = realMs(KEEP_ALIVE_MS);
  const connections = app.get(ClientConnections, { strict: false });
  const handle = directRoutesBefore(
    app.getHttpAdapter().getInstance(),
    app.get(ModulesContainer),
    API_PREFIX,
    beginWatched,
  );
  // Node creates requests and responses as the adapter says: with the prototypes of Express.
  const serve: RequestHandler = (request, response) => {
    withOneVersion(request);
    (handle as RequestHandler)(request, response);
  };
  serveConnections(server, connections, serve);
  refuseInterceptors(app.get(ApplicationConfig));
  await app.init();
  // These routes come after the routes of the API, so that requests to the API do not have to check them.
  if (config.apiDocs === 'open') {
    app.use('/api/docs', helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } }));
    const extensions = app.get(Extensions, { strict: false });
    serveOpenApi(app, [
      async (document) => {
        const model = config.models[0]?.id;
        describeChatRequest(document, model);
        for (const describe of extensions.values(API_DESCRIPTIONS)) await describe(document, model);
        describeErrors(document, extensions.values(DEFINED_ERRORS));
        describeResponses(document);
        describeStrategies(document, extensions.values(PLUGIN_STRATEGIES));
      },
    ]);
  }
  app.use(notFound(app.get(ServiceErrorFilter)));
  return app;
}

/**
 * Refuses global interceptors. With any interceptor on an event stream, Nest sends the status 200 before the answer can begin,
 * so a failure would look like a success. Providers of `APP_INTERCEPTOR` are known when the application is created.
 */
function refuseInterceptors(nest: ApplicationConfig): void {
  if (nest.getGlobalInterceptors().length + nest.getGlobalRequestInterceptors().length === 0) return;
  throw new ConfigError([
    'A plugin provides a global interceptor (APP_INTERCEPTOR), which breaks event streams. Use @UseInterceptors() on the ' +
      'controllers of the plugin, or a completion hook.',
  ]);
}
