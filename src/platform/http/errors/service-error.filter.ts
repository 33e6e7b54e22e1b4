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
import { enterSurface } from '../surface/enter-surface.js';
import { Surfaces } from '../surface/surfaces.js';
import { allowedMethods, hasNeighbours } from './allowed-methods.js';
import { sendError } from './send-error.js';
import { toServiceError } from './to-service-error.js';

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
