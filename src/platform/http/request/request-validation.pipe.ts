import { Injectable, ValidationPipe, type ArgumentMetadata, type Type, type ValidationError } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { type ErrorDetail, MAX_DETAILS, ServiceError } from '../../common/service-error.js';
import { followsRules } from './compiled-rules.js';

/** The message about a member of the body that the API does not define. */
export const UNKNOWN_MEMBER = 'is not a known member';

const MAX_NAMED_IN_MESSAGE = 3;

/**
 * Throws an error if there is at least one problem. Reads only as many problems as an error can name, so that a generator
 * stops early.
 *
 * @throws {ServiceError} `invalid_request` with the problems.
 */
export function refuseAny(problems: Iterable<ErrorDetail>): void {
  const found = firstOf(problems);
  if (found.length > 0) throw errorOf(found);
}

/** Creates the error for these problems. There must be at least one problem. */
export function invalidRequest(problems: Iterable<ErrorDetail>): ServiceError {
  return errorOf(firstOf(problems));
}

/** Returns at most one problem more than an error can name. The extra problem shows that there are more. */
function firstOf(problems: Iterable<ErrorDetail>): ErrorDetail[] {
  const found: ErrorDetail[] = [];
  for (const problem of problems) {
    found.push(problem);
    if (found.length > MAX_DETAILS) break;
  }
  return found;
}

function errorOf(found: readonly ErrorDetail[]): ServiceError {
  const details = found.slice(0, MAX_DETAILS);
  const named = details.slice(0, MAX_NAMED_IN_MESSAGE).map(({ field }) => field);
  const others = details.length - named.length;
  const atLeast = found.length > details.length ? 'at least ' : '';
  const rest = others === 0 ? '' : ` and ${atLeast}${others} more`;
  return new ServiceError('invalid_request', `The request is invalid: see ${named.join(', ')}${rest}.`, { details });
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
