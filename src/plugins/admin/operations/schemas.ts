import { applyDecorators, type Type } from '@nestjs/common';
import { Type as NestedType } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsString,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { ApiProperty, ApiSchema } from '../../../plugin-api/core/http.js';

/** The description of a member, as `@ApiProperty()` takes it. */
type Description = Readonly<Record<string, unknown>>;

export const UUID = { type: 'string', format: 'uuid' } as const;
export const TEXT = { type: 'string' } as const;
export const EMAIL = { type: 'string', format: 'email' } as const;
export const TIME = { type: 'string', format: 'date-time' } as const;
export const PREFIX = { type: 'string', description: 'The first characters of the key.' } as const;
export const LINK = {
  ...{ type: 'string', format: 'uri' },
  description: 'The link works once. No other response shows it.',
} as const;
/** An id, or `null`. The document says that it is an object. */
export const MAKER = { type: Object, format: 'uuid', nullable: true } as const;
export const nullable = <T extends Description>(description: T) => ({ ...description, nullable: true }) as const;

/**
 * Creates the class that describes an object in the OpenAPI document.
 *
 * @param members the descriptions of the members.
 * @param base the class with further members.
 */
export function object(
  name: string,
  members: Readonly<Record<string, Description>>,
  base: Type<object> = Object,
): Type<object> {
  class Described extends base {}
  ApiSchema({ name })(Described);
  for (const [member, description] of Object.entries(members)) {
    (ApiProperty as (options: Description) => PropertyDecorator)(description)(Described.prototype, member);
  }
  return Described;
}

/** Creates the class of one page of a list. */
export function page(name: string, entry: Type<object>): Type<object> {
  const description = 'The `cursor` of the next page. `null`: the last page.';
  return object(name, { next_cursor: nullable({ ...TEXT, description }), data: { type: [entry] } });
}

/** A member of a body: its description for the OpenAPI document, and its rules for the validation. */
export interface Member<T> {
  readonly description: Description;
  readonly rules: readonly PropertyDecorator[];
  /** The type of the value. Only the compiler reads this member. */
  readonly value?: T;
}

type Members = Readonly<Record<string, Member<unknown>>>;
type Value<M> = M extends Member<infer T> ? T : never;
type OptionalName<M> = { [Name in keyof M]: undefined extends Value<M[Name]> ? Name : never }[keyof M];
type BodyOf<M> = { readonly [Name in Exclude<keyof M, OptionalName<M>>]: Value<M[Name]> } & {
  readonly [Name in OptionalName<M>]?: Value<M[Name]>;
};

/** Creates the class of a body, which describes and validates it. The errors of `members` come before those of `base`. */
export function body<M extends Members, Base extends object>(
  name: string,
  members: M,
  base: Type<Base> = Object as unknown as Type<Base>,
): Type<BodyOf<M> & Base> {
  const descriptions = Object.entries(members).map(([member, { description }]) => [member, description] as const);
  const type = object(name, Object.fromEntries(descriptions), base);
  for (const [member, { rules }] of Object.entries(members)) applyDecorators(...rules)(type.prototype, member);
  return type as Type<BodyOf<M> & Base>;
}

/** Makes a member optional. `null` is an invalid value. */
export function optional<T>({ description, rules }: Member<T>): Member<T | undefined> {
  const isGiven = ValidateIf((_, value) => value !== undefined);
  return { description: { ...description, required: false }, rules: [...rules, isGiven] };
}

/** Makes a member optional. `null` is a valid value. */
export function optionalOrNull<T>({ description, rules }: Member<T>): Member<T | null | undefined> {
  const isGiven = ValidateIf((_, value) => value !== undefined && value !== null);
  return { description: { ...description, required: false, nullable: true }, rules: [...rules, isGiven] };
}

/** Longer than every valid address, name and password. The services check the form of texts. */
const MAX_LENGTH = 1_000;

export function text(description: Description = {}): Member<string> {
  const rules = [
    IsString({ message: 'must be a string' }),
    MaxLength(MAX_LENGTH, { message: `must not be longer than ${MAX_LENGTH} characters` }),
  ];
  return { description: { ...TEXT, ...description }, rules };
}

const MAX_ITEMS = 100;
const MAX_ITEM_LENGTH = 600;

/** A list of texts, which the services check. */
export function texts(description: Description): Member<string[]> {
  const isNoList = { message: 'must be an array of strings' };
  const rules = [
    MaxLength(MAX_ITEM_LENGTH, { each: true, message: `must have items of at most ${MAX_ITEM_LENGTH} characters` }),
    IsString({ each: true, ...isNoList }),
    ArrayMaxSize(MAX_ITEMS, { message: `must have at most ${MAX_ITEMS} entries` }),
    IsArray(isNoList),
  ];
  return { description: { type: [String], ...description }, rules };
}

export function flag(description: Description = {}): Member<boolean> {
  return { description: { type: 'boolean', ...description }, rules: [IsBoolean({ message: 'must be true or false' })] };
}

export function choice<const T extends string>(values: readonly T[], description: Description = {}): Member<T> {
  const rule = IsIn(values, { message: `must be one of ${values.join(', ')}` });
  return { description: { type: 'string', enum: values, ...description }, rules: [rule] };
}

/** A whole number, which the services check. */
export function count(description: Description): Member<number> {
  return { description: { type: 'integer', ...description }, rules: [IsInt({ message: 'must be a whole number' })] };
}

export function countWithin(minimum: number, maximum: number, description: Description): Member<number> {
  const whole = count({ minimum, maximum, ...description });
  const limits = [
    Min(minimum, { message: `must be at least ${minimum}` }),
    Max(maximum, { message: `must be at most ${maximum}` }),
  ];
  return { ...whole, rules: [...whole.rules, ...limits] };
}

export function amount(description: Description): Member<number> {
  const rule = IsNumber({ maxDecimalPlaces: 6 }, { message: 'must be a number with at most 6 decimal places' });
  return { description: { type: 'number', ...description }, rules: [rule] };
}

export function nested<T extends object>(type: Type<T>): Member<T> {
  const rules = [IsObject({ message: 'must be an object' }), NestedType(() => type), ValidateNested()];
  return { description: { type }, rules };
}

/** A time in ISO 8601 with a time zone. */
export function time(description: Description): Member<string> {
  const message = 'must be a time in ISO 8601 with a time zone, such as 2027-01-31T00:00:00Z';
  const rule = ValidateBy({ name: 'isTime', validator: { validate: isTime } }, { message });
  return { description: { ...TIME, ...description }, rules: [rule] };
}

const ISO_TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|[+-]\d{2}:\d{2})$/;

/** `Date` reads 30 February as 2 March. */
function isTime(value: unknown): boolean {
  const [whole, day] = typeof value === 'string' ? (ISO_TIME.exec(value) ?? []) : [];
  if (whole === undefined || day === undefined || Number.isNaN(Date.parse(whole))) return false;
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}
