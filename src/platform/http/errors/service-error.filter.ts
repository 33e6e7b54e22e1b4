import {
  Catch,
  Inject,
  Logger,
  NotFoundException,
  Optional,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { factsOf, ServiceError } from '../../common/service-error.js';
import { dropRestOfBody } from '../body/unread-body.js';
import { isClosed } from '../request/client-gone.js';
import { enterSurface } from '../surface/surface.decorator.js';
import { Surfaces } from '../surface/surfaces.js';
import { sendError } from './send-error.js';
import { toServiceError } from './to-service-error.js';

/** The parts of a router layer of Express that this file uses. */
interface RouterLayer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>>; readonly path: unknown };
  match(path: string): boolean;
}

/** Returns the methods, in capitals, that have a route in Express at the path of the request. Returns [] if there is none. */
export function allowedMethods(request: Request): string[] {
  const path = request.originalUrl.split('?', 1)[0] ?? '/';
  const methods = new Set<string>();
  for (const layer of layersOf(request)) {
    if (layer.route === undefined || !matches(layer, path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods];
}

/** Whether a route of the API begins with the same name as the path of the request, such as `usage` in `/api/v1/usage/unknown`. */
function hasNeighbours(request: Request): boolean {
  const [beginning = request.originalUrl] = /^\/api\/v1\/[^/?]*/i.exec(request.originalUrl) ?? [];
  return layersOf(request).some(({ route }) => {
    const path = typeof route?.path === 'string' ? route.path.toLowerCase() : '';
    return path === beginning.toLowerCase() || path.startsWith(`${beginning.toLowerCase()}/`);
  });
}

function layersOf({ app }: Request): readonly RouterLayer[] {
  return (app.router as unknown as { readonly stack: readonly RouterLayer[] }).stack;
}

function matches(layer: RouterLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return false; // a path that cannot be decoded
  }
}

/** Sends an error in another form than that of the API, for example as a page. Returns `false` when the API has to answer. */
type OtherForm = (error: ServiceError, request: Request, response: Response) => boolean;

/** Responds to every thrown error with the error body of the API, and logs the errors that are faults of the service. */
@Catch()
export class ServiceErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ServiceErrorFilter.name);
  @Optional()
  @Inject(Surfaces)
  private readonly surfaces?: Surfaces;
  private otherForm: OtherForm | undefined;

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.respond(thrown, http.getRequest<Request>(), http.getResponse<Response>());
  }

  /** Responds to an error from outside the routes of Nest. */
  respond(thrown: unknown, request: Request, response: Response): void {
    // Nobody gets an answer. The log line of the request shows that the client has left.
    if (isAborted(thrown) && isClosed(response)) return;
    let error = orMethodNotAllowed(toServiceError(thrown), request);
    const { requestId } = request.context;
    // Errors of an upstream are logged where the upstream was called.
    if (error.status >= 500 && factsOf(error.code).fault !== 'provider') this.log(error, requestId);

    if (response.headersSent) {
      // It is too late to send the error. Cutting the connection shows the client that the response is incomplete.
      response.destroy();
      return;
    }
    dropRestOfBody(request, response);
    if (request.context.surface === undefined) this.enterSurface(thrown, request, response);
    if (error.code === 'method_not_allowed' && request.context.surface !== undefined)
      error = orNoWebSocket(error, request);
    if (this.otherForm?.(error, request, response) !== true) sendError(error, response);
  }

  /** Lets `send` answer first. */
  sendFirst(send: OtherForm): void {
    this.otherForm = send;
  }

  /** A guard has not run if the router has raised the error. */
  private enterSurface(thrown: unknown, request: Request, response: Response): void {
    // The service itself throws other errors, for example for a record that does not exist.
    const isUnknownPath = thrown instanceof NotFoundException && !hasNeighbours(request);
    const surface = this.surfaces?.at(request) ?? (isUnknownPath ? this.surfaces?.ofUnknownPath(request) : undefined);
    if (surface !== undefined) enterSurface(response, surface);
  }

  private log(error: ServiceError, requestId: string): void {
    const { cause } = error;
    const reason = cause instanceof Error ? cause.message : undefined;
    const entry = { msg: error.message, requestId, code: error.code, reason };
    if (error.code === 'internal_error') this.logger.error(entry, cause instanceof Error ? cause.stack : undefined);
    else this.logger.warn(entry);
  }
}

/** Clients of other APIs try a WebSocket first. They take this status for "use HTTP", and try other statuses again. */
function orNoWebSocket(error: ServiceError, { headers }: Request): ServiceError {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return error;
  return new ServiceError('method_not_allowed', 'This path has no WebSocket: send a POST request.', {
    status: 426,
    headers: { ...error.headers, Upgrade: 'HTTP/1.1' },
  });
}

/** Whether the work of a request was stopped. Its signal aborts when its client leaves, see `clientGone`. */
function isAborted(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError';
}

/** Returns `method_not_allowed` if the path exists with another method. The router reports "not found" in that case, too. */
function orMethodNotAllowed(error: ServiceError, request: Request): ServiceError {
  if (error.code !== 'not_found') return error;
  const methods = allowedMethods(request);
  if (methods.length === 0 || methods.includes(request.method)) return error;
  const allow = methods.join(', ');
  return new ServiceError('method_not_allowed', `This path does not support ${request.method}, only ${allow}.`, {
    headers: { Allow: allow },
  });
}
