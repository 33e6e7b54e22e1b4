import type { Type } from '@nestjs/common';
import { plainToInstance, TransformationType } from 'class-transformer';
import { defaultMetadataStorage as transformer } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage } from 'class-validator';

type Members = Readonly<Record<string, unknown>>;

/**
 * The members that are copied without the library. The value is the class of the objects in a list, or `null` for a member with
 * a text, a number or a boolean.
 */
type Plan = ReadonlyMap<string, Type<object> | null>;

const compiled = new Map<unknown, Plan>();

/**
 * Returns a copy of a parsed body as an object of its class, with nested objects of their classes.
 *
 * The copy is that of class-transformer. This function reads the metadata of a class only once, and copies the usual members
 * itself: texts, numbers, booleans, and lists of objects with `@Type()`. The library copies a body with any other member.
 */
export function instanceOf<T extends object>(type: Type<T>, body: object): T {
  return copyOf(type, body as Members) ?? plainToInstance(type, body);
}

function copyOf<T extends object>(type: Type<T>, body: Members): T | undefined {
  const plan = planOf(type);
  const copy = new type();
  for (const member of Object.keys(body)) {
    const inner = plan.get(member);
    if (inner === undefined) return undefined;
    const value = body[member];
    const copied = inner === null ? value : listOf(inner, value);
    if (inner === null ? isObject(value) : copied === undefined) return undefined;
    (copy as Record<string, unknown>)[member] = copied;
  }
  return copy;
}

function listOf(type: Type<object>, values: unknown): readonly object[] | undefined {
  if (!Array.isArray(values)) return undefined;
  const list: object[] = [];
  for (const value of values as readonly unknown[]) {
    const copy = isPlain(value) ? copyOf(type, value) : undefined;
    if (copy === undefined) return undefined;
    list.push(copy);
  }
  return list;
}

function planOf(type: Type<object>): Plan {
  let plan = compiled.get(type);
  if (plan === undefined) compiled.set(type, (plan = compile(type)));
  return plan;
}

function compile(type: Type<object>): Plan {
  const plan = new Map<string, Type<object> | null>();
  if (transformer.getExposedMetadatas(type).length + transformer.getExcludedMetadatas(type).length > 0) return plan;
  for (const { propertyName } of getMetadataStorage().getTargetValidationMetadatas(type, '', false, false)) {
    const transforms = transformer.findTransformMetadatas(type, propertyName, TransformationType.PLAIN_TO_CLASS);
    const inner = innerType(type, propertyName);
    if (transforms.length === 0 && inner !== undefined && !(propertyName in type.prototype))
      plan.set(propertyName, inner);
  }
  return plan;
}

/** Returns the class of `@Type()`, or `null` without a class. Returns `undefined` for a class that only the library supports. */
function innerType(type: Type<object>, member: string): Type<object> | null | undefined {
  const metadata = transformer.findTypeMetadata(type, member);
  if (metadata === undefined) return null;
  const { typeFunction, options, reflectedType } = metadata;
  const isList = [undefined, Array, Object].some((usual) => reflectedType === usual);
  if (!isList || options.discriminator !== undefined || typeFunction.length > 0) return undefined;
  const inner = typeFunction() as Type<object>;
  return CONVERTED.has(inner) ? undefined : inner;
}

/** The library converts values to these types. */
const CONVERTED = new Set<unknown>([String, Number, Boolean, Date, Buffer]);

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function isPlain(value: unknown): value is Members {
  return isObject(value) && Object.getPrototypeOf(value) === Object.prototype;
}
