import { Injectable, type ExecutionContext, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { ServiceError } from '../../common/service-error.js';
import { RequestValidationPipe } from '../request/request-validation.pipe.js';
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

export interface BodyResult {
  /** Why the request must be refused. A body without an error is in `request.body`. */
  readonly error?: Error;
}

declare module '../request/request-context.js' {
  interface RequestContext {
    /** Set when the body has been read, or when the reading has failed. */
    body?: BodyResult;
  }
}

const NO_ERROR: BodyResult = {};

/** Reads the body of a request once: JSON, or a form if the route is a `@Form()`. Keeps the result on the request context. */
@Injectable()
export class RequestBodies {
  constructor(
    private readonly reflector: Reflector,
    private readonly reader: BodyReader,
    private readonly validation: RequestValidationPipe,
  ) {}

  /**
   * Reads the body into `request.body`. Further calls return the same result. Does not throw: the caller decides when to
   * refuse the request.
   *
   * @param type a class to validate the body against. The body is then an object of the class, and the validation pipe does
   *   not validate the body again. Without a class, only the pipe validates the body.
   */
  async read(context: ExecutionContext, type?: Type<object>): Promise<BodyResult> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    return (request.context.body ??= await this.readOnce(context, request, http.getResponse<Response>(), type));
  }

  private async readOnce(
    context: ExecutionContext,
    request: Request,
    response: Response,
    type: Type<object> | undefined,
  ): Promise<BodyResult> {
    if (!METHODS_WITH_BODY.has(request.method)) return NO_ERROR;
    try {
      // Middleware of a custom application may have read the body.
      request.body ??= isForm(this.reflector, context)
        ? await readForm(request, response, this.reader)
        : await this.readJson(request, response, mostBodyValues(this.reflector, context));
      if (type !== undefined) {
        request.body = await this.validation.transform(request.body, { type: 'body', metatype: type });
      }
      return NO_ERROR;
    } catch (error) {
      return { error: error as Error };
    }
  }

  private async readJson(request: Request, response: Response, mostValues: number): Promise<object> {
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
    return body;
  }
}
