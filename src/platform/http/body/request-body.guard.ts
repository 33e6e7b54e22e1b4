import { Inject, Injectable, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { getMetadataStorage } from 'class-validator';
import { RouteMetadata } from '../../common/route-metadata.js';
import { ServiceError } from '../../common/service-error.js';
import { RequestValidationPipe } from '../request/request-validation.pipe.js';
import {
  bodyClassOf,
  type BodyType,
  isBodyParser,
  isForm,
  maxBodyValues,
  isWithoutBody,
  takesBody,
} from './body-class.decorator.js';
import { readForm, requireUtf8Body } from './form/form-body.js';
import { parseJsonBody } from './json/parse-json-body.js';
import { BodyReader } from './read-body.js';
import '../surface/surface.decorator.js';

/** Is notified of each request that is refused because of its body. The class is the injection token. */
export abstract class RefusedBodies {
  /**
   * Counts the request, so that requests with an invalid body are limited, too.
   *
   * @throws {ServiceError} when a limit refuses the request. The client then gets this error.
   */
  abstract countRefused(request: Request, response: Response): Promise<void>;
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** The maximum number of nested objects and arrays. */
const MAX_DEPTH = 32;
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Global guard: reads the body into `request.body` (JSON, or a form if the route is a `@Form()`), and validates the body if
 * the route names its class by `@BodyClass()`. The validation pipe does not validate such a body again. The guards before it
 * identify the caller, so an unknown or throttled caller cannot make the process read and parse 4 MiB.
 */
@Injectable()
export class RequestBodyGuard implements CanActivate {
  constructor(
    @Inject(RouteMetadata) private readonly reflector: Reflector,
    private readonly reader: BodyReader,
    private readonly validation: RequestValidationPipe,
    private readonly refused: RefusedBodies,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (!METHODS_WITH_BODY.has(request.method)) return true;
    return this.read(context, request, http.getResponse<Response>());
  }

  private async read(context: ExecutionContext, request: Request, response: Response): Promise<boolean> {
    try {
      if (isWithoutBody(request) && !takesBody(context)) return true;
      const type = bodyClassOf(this.reflector, context);
      // Middleware of a custom application may have read the body.
      request.body ??= isForm(this.reflector, context)
        ? await readForm(request, response, this.reader)
        : await this.readJson(request, response, maxBodyValues(this.reflector, context), type);
      if (type !== undefined) await this.check(type, request, response);
      return true;
    } catch (error) {
      await this.refused.countRefused(request, response);
      throw error;
    }
  }

  private async check(type: BodyType, request: Request, response: Response): Promise<void> {
    const ignored = new IgnoredMembers();
    const body = request.body as Readonly<Record<string, unknown>>;
    try {
      request.body = isBodyParser(type)
        ? await type.parse(body, ignored.add)
        : await this.validation.transform(
            request.context.surface?.ignoresUnknown === true ? withoutUnknown(body, type, ignored.add) : body,
            { type: 'body', metatype: type },
          );
    } finally {
      ignored.show(response);
    }
  }

  private async readJson(
    request: Request,
    response: Response,
    maxValues: number,
    type: BodyType | undefined,
  ): Promise<object> {
    const { shape = 'object', maxBytes = MAX_BODY_BYTES } = type !== undefined && isBodyParser(type) ? type : {};
    requireUtf8Body(request, 'application/json');
    const bytes = await this.reader.read(request, response, maxBytes);
    const body = await parseJsonBody(bytes, { values: maxValues, depth: MAX_DEPTH });
    if (typeof body !== 'object' || body === null || Array.isArray(body) !== (shape === 'array')) {
      throw new ServiceError('invalid_request', `The body must be a JSON ${shape}.`);
    }
    return body;
  }
}

const IGNORED_MEMBERS_HEADER = 'X-Ignored-Parameters';
/** The most names in the header. */
const MAX_NAMES = 20;
/** A longer name is not worth its bytes. */
const NAME = /^[\w.$-]{1,64}$/;

/** Collects the members of a body that have no effect, and names them in the response. */
class IgnoredMembers {
  private readonly names = new Set<string>();

  /** Adds a member. The header contains only names of letters, digits, `_`, `.`, `$` and `-`. */
  readonly add = (name: string): void => {
    if (this.names.size < MAX_NAMES && NAME.test(name)) this.names.add(name);
  };

  show(response: Response): void {
    if (this.names.size > 0) response.setHeader(IGNORED_MEMBERS_HEADER, [...this.names].join(', '));
  }
}

/**
 * Returns the body without the members that its class does not define. Members of nested objects stay.
 *
 * @param ignore is called with the name of each member that is left out.
 */
function withoutUnknown(body: object, type: Type<object>, ignore: (member: string) => void): object {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const known = new Set(rules.map(({ propertyName }) => propertyName));
  const members = Object.entries(body) as [string, unknown][];
  for (const [member] of members) if (!known.has(member)) ignore(member);
  return Object.fromEntries(members.filter(([member]) => known.has(member)));
}
