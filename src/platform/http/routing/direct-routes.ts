import { type Type, SetMetadata } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import type { ModulesContainer } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';

const DIRECT_ROUTE = Symbol('DIRECT_ROUTE');

/**
 * Serves a public `GET` route before Express: without sessions, guards, pipes and filters. For a route that gives the same
 * answer to everyone and is requested often.
 *
 * The parameters of the method must be `@Req()` and `@Res()`, in this order. The method must end the response itself, and must
 * not throw. Nest serves the route as well: a request with a cookie, a credential or a body, and another spelling of the path, take the
 * usual way.
 */
export const DirectRoute = (): MethodDecorator => SetMetadata(DIRECT_ROUTE, true);

type Handler = (request: Request, response: Response) => void;
/** A handler of a controller. */
type RouteHandler = (request: Request, response: Response) => void | Promise<void>;

interface DirectRoute {
  /** As Express sets it: logs and metrics read the path. */
  readonly route: { readonly path: string };
  readonly handle: RouteHandler;
}

/**
 * Returns a handler that serves the routes that are `@DirectRoute()`, and passes all other requests to Express.
 *
 * @param express the application of Express.
 * @param modules the modules with the controllers.
 * @param prefix the prefix of the paths of all controllers, without slashes at its ends.
 * @param before the middleware that runs before a direct route.
 */
export function directRoutesBefore(
  express: Handler,
  modules: ModulesContainer,
  prefix: string,
  before: (request: Request, response: Response, next: NextFunction) => void,
): Handler {
  const routes = directRoutesOf(modules, prefix);
  return (request, response) => {
    const direct = routes.get(request.url);
    if (direct === undefined || !isPlain(request)) {
      express(request, response);
      return;
    }
    // Express sets this as well. `request.fresh` needs it.
    request.res = response;
    request.route = direct.route;
    before(request, response, () => {
      void direct.handle(request, response);
    });
  };
}

function isPlain({ method, headers }: Request): boolean {
  return (
    method === 'GET' &&
    headers.cookie === undefined &&
    headers.authorization === undefined &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  );
}

function directRoutesOf(modules: ModulesContainer, prefix: string): ReadonlyMap<string, DirectRoute> {
  const routes = new Map<string, DirectRoute>();
  for (const { controllers } of modules.values()) {
    for (const { instance, metatype } of controllers.values()) {
      const controller = metatype as Type;
      for (const method of directMethodsOf(controller)) {
        const path = `/${[prefix, pathOf(controller), pathOf(method)].filter((part) => part !== '/').join('/')}`;
        routes.set(path, { route: { path }, handle: method.bind(instance) });
      }
    }
  }
  return routes;
}

function directMethodsOf({ prototype }: Type): RouteHandler[] {
  const members = Object.values(Object.getOwnPropertyDescriptors(prototype as object)).map(
    ({ value }) => value as unknown,
  );
  return members.filter(
    (member): member is RouteHandler => typeof member === 'function' && Reflect.hasMetadata(DIRECT_ROUTE, member),
  );
}

/** The path as a decorator of Nest has stored it. */
function pathOf(decorated: object): string {
  return Reflect.getMetadata(PATH_METADATA, decorated) as string;
}
