import { applyDecorators } from '@nestjs/common';
import { IsBoolean, IsIn, IsString, Matches, MaxLength, ValidateIf } from 'class-validator';

/** Marks a member that may be left out. `null` is an invalid value. */
export const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

/** Marks a member that may be left out. `null` is a valid value. */
export const Nullable = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined && value !== null);

/** The services check the form of texts. The lowest decorator of a member runs first. */
export const Text = (maxLength: number): PropertyDecorator =>
  applyDecorators(
    MaxLength(maxLength, { message: `must not be longer than ${maxLength} characters` }),
    IsString({ message: 'must be a string' }),
  );

export const Flag = (): PropertyDecorator => IsBoolean({ message: 'must be true or false' });

export const OneOf = (values: readonly string[]): PropertyDecorator =>
  IsIn(values, { message: `must be one of ${values.join(', ')}` });

/** A time in ISO 8601 with a time zone. A service checks that it exists. */
export const Time = (): PropertyDecorator =>
  Matches(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|[+-]\d{2}:\d{2})$/, {
    message: 'must be a time in ISO 8601 with a time zone, such as 2027-01-31T00:00:00Z',
  });
