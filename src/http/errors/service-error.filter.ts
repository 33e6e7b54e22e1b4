import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ServiceError } from '../../common/service-error.js';
import { dropRestOfBody } from '../body/unread-body.js';
import { requestIdOf } from '../request/request-id.js';
import { allowedMethods } from '../routing/allowed-methods.js';
import { sendError } from './send-error.js';
import { toServiceError } from './to-service-error.js';

/** Answers whatever was thrown with the one error body of the interface, and logs what is our fault. */
@Catch()
export class ServiceErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ServiceErrorFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(thrown, http.getRequest<Request>(), http.getResponse<Response>());
  }

  /** For what fails outside of Nest's routes. */
  answer(thrown: unknown, request: Request, response: Response): void {
    const error = orMethodNotAllowed(toServiceError(thrown), request);
    const requestId = requestIdOf(response);
    // What went wrong at a vendor is logged where it was asked.
    if (error.status >= 500 && !error.code.startsWith('upstream_')) this.log(error, requestId);

    if (response.headersSent) {
      // Too late to tell: cut the connection, so that nothing half-sent looks whole.
      response.destroy();
      return;
    }
    dropRestOfBody(request, response);
    this.send(error, request, response);
  }

  /** How the error is told. */
  protected send(error: ServiceError, _: Request, response: Response): void {
    sendError(error, response);
  }

  private log(error: ServiceError, requestId: string): void {
    const { cause } = error;
    const reason = cause instanceof Error ? cause.message : undefined;
    const entry = { msg: error.message, requestId, code: error.code, reason };
    if (error.code === 'internal_error') this.logger.error(entry, cause instanceof Error ? cause.stack : undefined);
    else this.logger.warn(entry);
  }
}

/** The router says "not found" of a known path with another method, too. */
function orMethodNotAllowed(error: ServiceError, request: Request): ServiceError {
  if (error.code !== 'not_found') return error;
  const methods = allowedMethods(request);
  if (methods.length === 0 || methods.includes(request.method)) return error;
  const allow = methods.join(', ');
  return new ServiceError('method_not_allowed', `The path does not take ${request.method}, only ${allow}.`, {
    headers: { Allow: allow },
  });
}
