import { Injectable, ValidationPipe, type ArgumentMetadata, type Type, type ValidationError } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import type { ErrorDetail } from '../../common/service-error.js';
import { followsRules } from './compiled-rules.js';
import { invalidRequest, refuseAny, UNKNOWN_MEMBER } from './invalid-request.js';

/**
 * Validates bodies against their class. Does not convert types, refuses unknown members, and names the invalid fields. A body
 * that is already an object of its class was validated before, because a parsed body is a plain object.
 */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      whitelist: true,
      forbidNonWhitelisted: true,
      stopAtFirstError: true,
      validationError: { target: false, value: false },
      exceptionFactory: (errors) => invalidRequest(detailsOf(errors)),
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { metatype } = metadata;
    if (metadata.type !== 'body' || typeof value !== 'object' || value === null || !this.toValidate(metadata)) {
      return super.transform(value, metadata);
    }
    if (metatype !== undefined && value instanceof metatype) return value;
    return this.validated(value, metatype as Type<object>);
  }

  /**
   * Returns a copy of the object as an object of its class.
   *
   * @throws {ServiceError} `invalid_request` when the object breaks a rule of the class.
   */
  async validated<T extends object>(value: object, type: Type<T>): Promise<T> {
    if (hasDroppedMembers(value)) refuseAny(droppedMembers(value));
    const instance = plainToInstance(type, value);
    // Most bodies are valid. For the others, the library finds the errors.
    return followsRules(instance) ? instance : ((await super.transform(value, { type: 'body', metatype: type })) as T);
  }
}

/** As {@link droppedMembers}, for bodies without such members, which are nearly all. */
function hasDroppedMembers(value: object): boolean {
  for (const member of Object.keys(value)) {
    if (isDropped(member)) return true;
    const inner = (value as Readonly<Record<string, unknown>>)[member];
    if (typeof inner === 'object' && inner !== null && hasDroppedMembers(inner)) return true;
  }
  return false;
}

function isDropped(member: string): boolean {
  return member in Object.prototype || member === 'prototype';
}

/** Finds members that the library drops without an error, before it looks for unknown members. */
function* droppedMembers(value: object, parent = ''): Generator<ErrorDetail> {
  for (const [member, inner] of Object.entries(value) as [string, unknown][]) {
    const field = `${parent}${member}`;
    if (isDropped(member)) yield { field, message: UNKNOWN_MEMBER };
    if (typeof inner === 'object' && inner !== null) yield* droppedMembers(inner, `${field}.`);
  }
}

/** Yields the problems one by one, because there may be thousands and an error names only a few. Outer members come first. */
function* detailsOf(errors: readonly ValidationError[], parent = ''): Generator<ErrorDetail> {
  for (const { property, constraints = {} } of errors) {
    const [first] = Object.entries(constraints);
    if (first === undefined) continue;
    const [constraint, message] = first;
    yield { field: `${parent}${property}`, message: constraint === 'whitelistValidation' ? UNKNOWN_MEMBER : message };
  }
  for (const { property, children = [] } of errors) yield* detailsOf(children, `${parent}${property}.`);
}
