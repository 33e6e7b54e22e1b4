import { Injectable, ValidationPipe, type ArgumentMetadata, type Type, type ValidationError } from '@nestjs/common';
import type { ErrorDetail } from '../../common/service-error.js';
import { invalidRequest, refuseAny, UNKNOWN_MEMBER } from './invalid-request.js';

/**
 * A fast check that the class of a body can have as a static method, used instead of its decorators. The check applies all
 * rules in one pass, and looks for the next problem only when the caller asks for it.
 *
 * The reason is speed: decorators cost some microseconds per value, which adds up to milliseconds for a long conversation.
 * The check applies only to the class itself, not to classes that extend the class.
 */
export interface QuickCheck extends Type<object> {
  problems(body: object): Iterable<ErrorDetail>;
}

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
    if (hasQuickCheck(metatype)) {
      refuseAny(metatype.problems(value));
      return Object.assign(new metatype(), value);
    }
    refuseAny(droppedMembers(value));
    return super.transform(value, metadata);
  }
}

function hasQuickCheck(metatype: object | undefined): metatype is QuickCheck {
  return metatype !== undefined && Object.hasOwn(metatype, 'problems');
}

/** Finds members that the library drops without an error, before it looks for unknown members. */
function* droppedMembers(value: object, parent = ''): Generator<ErrorDetail> {
  for (const [member, inner] of Object.entries(value) as [string, unknown][]) {
    const field = `${parent}${member}`;
    if (member in Object.prototype || member === 'prototype') yield { field, message: UNKNOWN_MEMBER };
    if (typeof inner === 'object' && inner !== null) yield* droppedMembers(inner, `${field}.`);
  }
}

/** Yields the problems one by one, because there may be thousands and an error names only a few. */
function* detailsOf(errors: readonly ValidationError[], parent = ''): Generator<ErrorDetail> {
  for (const { property, constraints = {}, children = [] } of errors) {
    const field = `${parent}${property}`;
    const [first] = Object.entries(constraints);
    if (first !== undefined) {
      const [constraint, message] = first;
      yield { field, message: constraint === 'whitelistValidation' ? UNKNOWN_MEMBER : message };
    }
    yield* detailsOf(children, `${field}.`);
  }
}
