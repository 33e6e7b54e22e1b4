import { ServiceError } from '../../common/service-error.js';
import type { RouteConfig } from '../../config/config.js';
import type { CircuitBreakers } from './circuit-breakers.js';

/**
 * Yields the routes to try, in order: first the routes with a usable upstream. If there is none, yields all routes except
 * routes that would only make the caller wait.
 *
 * @throws {ServiceError} `upstream_timeout` when there is no route to try.
 */
export function* routesToTry(routes: readonly RouteConfig[], breakers: CircuitBreakers): Generator<RouteConfig> {
  let tried = false;
  for (const route of routes) {
    if (!breakers.of(route.upstream).isUsable) continue;
    tried = true;
    yield route;
  }
  if (tried) return;
  for (const route of routes) {
    if (breakers.of(route.upstream).isDead) continue;
    tried = true;
    yield route;
  }
  if (!tried) throw new ServiceError('upstream_timeout', 'The provider has not answered the last requests in time.');
}
