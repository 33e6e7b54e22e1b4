import { ValidationPipe, type ValidationError } from '@nestjs/common';
import { ServiceError, type ErrorDetail } from './service-error.js';

/** Checks bodies against their DTO class: no conversion of types, no unknown members, every wrong field named. */
export function requestValidationPipe(): ValidationPipe {
  return new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
    exceptionFactory: (errors) => {
      const details = detailsOf(errors);
      const fields = details.map(({ field }) => field);
      const named =
        fields.length > 3 ? `${fields.slice(0, 3).join(', ')} and ${fields.length - 3} more` : fields.join(', ');
      return new ServiceError('invalid_request', `The request is not valid: see ${named}.`, { details });
    },
  });
}

function detailsOf(errors: readonly ValidationError[], parent = ''): ErrorDetail[] {
  return errors.flatMap(({ property, constraints = {}, children = [] }) => {
    const field = `${parent}${property}`;
    const own = Object.entries(constraints)
      .slice(0, 1)
      .map(([constraint, message]) => ({
        field,
        message: constraint === 'whitelistValidation' ? 'is not a known member' : message,
      }));
    return [...own, ...detailsOf(children, `${field}.`)];
  });
}
