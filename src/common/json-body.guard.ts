import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import express, { type Request, type Response } from 'express';
import { ServiceError } from './service-error.js';
import { toServiceError } from './to-service-error.js';

const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Reads the JSON body for `@Body()`. A guard and the last of the global ones, not a middleware, so that a stranger or a
 * throttled caller cannot make the process take in and parse 4 MiB: guards before it have let the request in by then.
 */
@Injectable()
export class JsonBodyGuard implements CanActivate {
  private readonly parse = express.json({ limit: BODY_LIMIT_BYTES, type: 'application/json' });

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (!METHODS_WITH_BODY.has(request.method)) return true;
    if (request.is('application/json') === false) {
      throw new ServiceError('unsupported_media_type', 'The body must be application/json.');
    }
    await new Promise<void>((resolve, reject) => {
      this.parse(request, http.getResponse<Response>(), (error?: unknown) => {
        if (error === undefined) resolve();
        else reject(refusalOf(error));
      });
    });
    const body: unknown = request.body;
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new ServiceError('invalid_request', 'The body must be a JSON object.');
    }
    return true;
  }
}

function refusalOf(error: unknown): Error {
  switch ((error as { readonly type?: string }).type) {
    case 'entity.parse.failed':
      return new ServiceError('invalid_request', 'The body is not valid JSON.');
    case 'entity.too.large':
      return new ServiceError('payload_too_large', `The body is larger than ${BODY_LIMIT_BYTES} bytes.`);
    case 'charset.unsupported':
    case 'encoding.unsupported':
      return new ServiceError('unsupported_media_type', 'The body must be application/json in UTF-8.');
    default:
      return toServiceError(error);
  }
}
