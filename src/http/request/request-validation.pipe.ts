import { Injectable, ValidationPipe, type ArgumentMetadata, type ValidationError } from '@nestjs/common';
import type { ErrorDetail } from '../../common/service-error.js';
import { invalidRequest, refuseAny, UNKNOWN_MEMBER } from './invalid-request.js';

/**
 * What the class of a body may offer in addition to its decorators: all of their rules in one pass, which looks for the
 * next problem only when it is asked for. Decorators cost some microseconds a value, milliseconds for a long conversation.
 * Counts for the class itself, not for classes that extend it.
 */
export interface QuickCheck {
  problems(body: object): Iterable<ErrorDetail>;
}

/** Checks bodies against their class: no conversion of types, no unknown members, the wrong fields named. */
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
    if (hasQuickCheck(metatype)) {
      refuseAny(metatype.problems(value));
      return value;
    }
    refuseAny(droppedMembers(value));
    return super.transform(value, metadata);
  }
}

function hasQuickCheck(metatype: object | undefined): metatype is QuickCheck {
  return metatype !== undefined && Object.hasOwn(metatype, 'problems');
}

/** The library drops members with these names silently, before it looks for unknown ones. */
function* droppedMembers(value: object, parent = ''): Generator<ErrorDetail> {
  for (const [member, inner] of Object.entries(value) as [string, unknown][]) {
    const field = `${parent}${member}`;
    if (member in Object.prototype || member === 'prototype') yield { field, message: UNKNOWN_MEMBER };
    if (typeof inner === 'object' && inner !== null) yield* droppedMembers(inner, `${field}.`);
  }
}

/** The problems one by one: there may be thousands, of which an answer names a few. */
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
