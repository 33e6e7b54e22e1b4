import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { ServiceError } from '../../common/service-error.js';
import { readForm } from './form/form-body.js';
import { isForm } from './form/form.decorator.js';
import { mostBodyValues } from './json/body-values.decorator.js';
import { JsonBody } from './json/json-body.js';
import { isUtf8MediaType } from './media-type.js';
import { BodyReader } from './read-body.js';

const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
/** The maximum number of nested objects and arrays. */
const MOST_DEPTH = 32;
const LONGEST_NAME_BYTES = 200;
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Reads the body for `@Body()`: JSON, or a form if the route is a `@Form()`.
 *
 * This is a guard, the last of the global guards, and not a middleware. It runs when the guards before it have let the
 * request in, or when one of them calls it because it needs the body. So an unknown or throttled caller cannot make the
 * process read and parse 4 MiB.
 */
@Injectable()
export class RequestBodyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly reader: BodyReader,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    if (request.body !== undefined || !METHODS_WITH_BODY.has(request.method)) return true;
    if (isForm(this.reflector, context)) return this.readForm(request, response);
    return this.readJson(request, response, mostBodyValues(this.reflector, context));
  }

  private async readForm(request: Request, response: Response): Promise<boolean> {
    request.body = await readForm(request, response, this.reader);
    return true;
  }

  private async readJson(request: Request, response: Response, mostValues: number): Promise<boolean> {
    const { headers } = request;
    if (!isUtf8MediaType(headers['content-type'], 'application/json')) {
      throw new ServiceError('unsupported_media_type', 'The body must be application/json in UTF-8.');
    }
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
      throw new ServiceError('unsupported_media_type', 'The body must not be compressed.');
    }
    const json = new JsonBody({ values: mostValues, depth: MOST_DEPTH, nameBytes: LONGEST_NAME_BYTES });
    const finish = () => json.value();
    const body = await this.reader.read(request, response, { limitBytes: BODY_LIMIT_BYTES, sink: json, finish });
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new ServiceError('invalid_request', 'The body must be a JSON object.');
    }
    request.body = body;
    return true;
  }
}
