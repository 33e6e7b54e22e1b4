import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { readForm } from './form-body.js';
import { isForm } from './form.decorator.js';
import { readBody } from './read-body.js';
import { ServiceError } from './service-error.js';

const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);
/** The parameters of the media type that are allowed: JSON is UTF-8, said or not. */
const JSON_IN_UTF8 = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i;

/**
 * Reads the body for `@Body()`: JSON, or a form where the route is a `@Form()`. A guard and the last of the global ones,
 * not a middleware, so that a stranger or a throttled caller cannot make the process take in and parse 4 MiB: guards
 * before it have let the request in by then, or have called this one when they needed the body.
 */
@Injectable()
export class JsonBodyGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.body !== undefined || !METHODS_WITH_BODY.has(request.method)) return true;
    return isForm(this.reflector, context) ? this.readForm(request) : this.read(request);
  }

  private async readForm(request: Request): Promise<boolean> {
    request.body = await readForm(request);
    return true;
  }

  private async read(request: Request): Promise<boolean> {
    const { headers } = request;
    if (!JSON_IN_UTF8.test(headers['content-type'] ?? '')) {
      throw new ServiceError('unsupported_media_type', 'The body must be application/json in UTF-8.');
    }
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
      throw new ServiceError('unsupported_media_type', 'The body must not be compressed.');
    }
    const body = parse(await readBody(request, BODY_LIMIT_BYTES));
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new ServiceError('invalid_request', 'The body must be a JSON object.');
    }
    request.body = body;
    return true;
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new ServiceError('invalid_request', 'The body is not valid JSON in UTF-8.');
  }
}
