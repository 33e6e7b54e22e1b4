import { Injectable, ValidationPipe, type ArgumentMetadata, type ValidationError } from '@nestjs/common';
import { ServiceError, type ErrorDetail } from './service-error.js';

/**
 * What the class of a body may offer beside its decorators: whether a body, as parsed, keeps all of their rules. Decorators
 * cost some microseconds a value, milliseconds for a long conversation; with this they only find out what is wrong.
 */
export interface QuickCheck {
  accepts(body: unknown): boolean;
}

/** Checks bodies against their class: no conversion of types, no unknown members, every wrong field named. */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      whitelist: true,
      forbidNonWhitelisted: true,
      stopAtFirstError: true,
      validationError: { target: false, value: false },
      exceptionFactory: (errors) => refusal(detailsOf(errors)),
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const quick = metadata.metatype as Partial<QuickCheck> | undefined;
    if (quick?.accepts === undefined) return super.transform(value, metadata);
    if (quick.accepts(value)) return value;
    try {
      const dropped = droppedMembers(value);
      if (dropped.length > 0) throw refusal(dropped);
      return await super.transform(value, metadata);
    } catch (error) {
      // The stack is too small for what the parser could still read.
      throw error instanceof RangeError ? refusal([{ field: 'body', message: 'is nested too deeply' }]) : error;
    }
  }
}

function refusal(details: ErrorDetail[]): ServiceError {
  const fields = details.map(({ field }) => field);
  const named =
    fields.length > 3 ? `${fields.slice(0, 3).join(', ')} and ${fields.length - 3} more` : fields.join(', ');
  return new ServiceError('invalid_request', `The request is not valid: see ${named}.`, { details });
}

/** The library drops members with the names of what every object has, such as `__proto__`, before it looks for unknown ones. */
function droppedMembers(value: unknown, parent = ''): ErrorDetail[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([member, inner]) => {
    const field = `${parent}${member}`;
    const own = member in Object.prototype ? [{ field, message: UNKNOWN_MEMBER }] : [];
    return [...own, ...droppedMembers(inner, `${field}.`)];
  });
}

const UNKNOWN_MEMBER = 'is not a known member';

function detailsOf(errors: readonly ValidationError[], parent = ''): ErrorDetail[] {
  return errors.flatMap(({ property, constraints = {}, children = [] }) => {
    const field = `${parent}${property}`;
    const own = Object.entries(constraints)
      .slice(0, 1)
      .map(([constraint, message]) => ({
        field,
        message: constraint === 'whitelistValidation' ? UNKNOWN_MEMBER : message,
      }));
    return [...own, ...detailsOf(children, `${field}.`)];
  });
}
