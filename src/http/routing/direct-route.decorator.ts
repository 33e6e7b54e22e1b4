import { SetMetadata } from '@nestjs/common';

export const DIRECT_ROUTE = Symbol('DIRECT_ROUTE');

/**
 * Serves a public `GET` route before Express: without sessions, guards, pipes and filters. For a route that gives the same
 * answer to everyone and is requested often.
 *
 * The parameters of the method must be `@Req()` and `@Res()`, in this order. The method must end the response itself, and must
 * not throw. Nest serves the route as well: a request with a cookie, a credential or a body, and another spelling of the path, take the
 * usual way.
 */
export const DirectRoute = (): MethodDecorator => SetMetadata(DIRECT_ROUTE, true);
