import { applyDecorators } from '@nestjs/common';
import { IsBoolean, IsIn, IsString, MaxLength, ValidateBy, ValidateIf } from 'class-validator';

const TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|[+-]\d{2}:\d{2})$/;

/** Marks a member that may be left out. `null` is an invalid value. */
export const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

/** Marks a member that may be left out. `null` is a valid value. */
export const Nullable = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined && value !== null);

/** The services check the form of texts. */
export const Text = (maxLength: number): PropertyDecorator =>
  applyDecorators(
    IsString({ message: 'must be a string' }),
    MaxLength(maxLength, { message: `must not be longer than ${maxLength} characters` }),
  );

export const Flag = (): PropertyDecorator => IsBoolean({ message: 'must be true or false' });

export const OneOf = (values: readonly string[]): PropertyDecorator =>
  IsIn(values, { message: `must be one of ${values.join(', ')}` });

/** A time in ISO 8601 with a time zone. */
export const Time = (): PropertyDecorator =>
  ValidateBy(
    { name: 'isTime', validator: { validate: isTime } },
    { message: 'must be a time in ISO 8601 with a time zone, such as 2027-01-31T00:00:00Z' },
  );

/** `Date` reads 30 February as 2 March. */
function isTime(value: unknown): boolean {
  const [time, day] = typeof value === 'string' ? (TIME.exec(value) ?? []) : [];
  if (time === undefined || day === undefined || Number.isNaN(Date.parse(time))) return false;
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}
