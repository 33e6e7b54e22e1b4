import { NotFoundException } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '../../common/service-error.js';
import { sendError } from '../errors/send-error.js';
import type { ServiceErrorFilter } from '../errors/service-error.filter.js';
import { giveRequestId } from '../request/request-id.js';

/**
 * Answers in place of Node, which would without a body, a request that expects what nobody knows. (One without a host gets
 * as far as {@link begin}, if the server was told so.)
 */
export function refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
  giveRequestId(request, response);
  sendError(new ServiceError('invalid_request', 'The expectation cannot be met.'), response, 417);
}

/** Middleware, the first. One for all, as each costs every request. */
export function begin(request: Request, response: Response, next: NextFunction): void {
  giveRequestId(request, response);
  // All that an API needs of the headers that protect pages, which bring their own.
  response.setHeader('X-Content-Type-Options', 'nosniff');
  if (request.headers.host !== undefined || request.httpVersion === '1.0') next();
  else sendError(new ServiceError('invalid_request', 'The header Host is missing.'), response);
}

/** Middleware, the last: nobody has answered. */
export function notFound(filter: ServiceErrorFilter): (request: Request, response: Response) => void {
  return (request, response) => {
    filter.answer(new NotFoundException(), request, response);
  };
}
