import { z } from 'zod';
import { schemaProblems } from '../../../plugin-api/core/chat.js';
import { isObject } from '../../../plugin-api/core/common.js';
import { invalidRequest } from '../../../plugin-api/core/http.js';

interface ListDefinition extends z.core.$ZodArrayDef {
  readonly max?: number | undefined;
}

const List = z.core.$constructor('List', (list: z.ZodArray, definition: ListDefinition) => {
  z.ZodArray.init(list, definition);
  const { element, max } = definition;
  const { parse } = list._zod;
  list._zod.parse = (payload, context) => {
    const input: unknown = payload.value;
    // Refuses what is no array, and an array that is too long, before any item is checked.
    if (!Array.isArray(input) || input.length > (max ?? Infinity)) return parse(payload, context);
    const items: unknown[] = [];
    for (const [index, item] of (input as readonly unknown[]).entries()) {
      const result = element._zod.run({ value: item, issues: [] }, context);
      if (result instanceof Promise) throw new z.core.$ZodAsyncError();
      if (result.issues.length > 0) {
        payload.issues.push(...z.core.util.prefixIssues(index, result.issues));
        return payload;
      }
      items.push(result.value);
    }
    payload.value = items;
    return payload;
  };
});

/**
 * The schema of an array whose check stops at the first invalid item. `z.array` collects the problems of all items: of 10,000 invalid
 * messages, for 100 ms.
 *
 * @param max the maximum number of items.
 */
export function listOf<Item extends z.ZodType>(item: Item, max?: number): z.ZodArray<Item> {
  const checks = max === undefined ? [] : [z.maxLength(max)];
  return new List({ type: 'array', element: item, max, checks }) as z.ZodArray<Item>;
}

interface VariantDefinition extends z.core.$ZodUnionDef {
  readonly choose: (value: unknown) => z.core.$ZodType;
}

const Variant = z.core.$constructor('Variant', (variant: z.ZodUnion, definition: VariantDefinition) => {
  z.ZodUnion.init(variant, definition);
  variant._zod.parse = (payload, context) => definition.choose(payload.value)._zod.run(payload, context);
});

/**
 * A schema that chooses another schema for each value. Unlike `z.discriminatedUnion`, it can have a schema for values of all other
 * types, and the choice can depend on several members.
 *
 * @param shown the schemas in the OpenAPI document.
 * @param choose returns the schema that checks a value.
 */
export function variantOf<Schema extends z.ZodType>(
  shown: readonly z.ZodType[],
  choose: (value: unknown) => Schema,
): z.ZodType<z.infer<Schema>> {
  return new Variant({ type: 'union', options: shown, choose }) as unknown as z.ZodType<z.infer<Schema>>;
}

/** Returns the schema for the member `type` of a value. */
export function ofType<Schemas extends Readonly<Record<string, z.ZodType>>>(
  schemas: Schemas,
  value: unknown,
): Schemas[keyof Schemas] | undefined {
  const type = isObject(value) ? value['type'] : undefined;
  return typeof type === 'string' && Object.hasOwn(schemas, type)
    ? (schemas[type] as Schemas[keyof Schemas])
    : undefined;
}

export type SentBody = Readonly<Record<string, unknown>>;
export type Ignore = (member: string) => void;

/**
 * Returns the members of a body that its schema has.
 *
 * @param maxProblems the maximum number of invalid members that the error names.
 * @throws {ServiceError} `invalid_request`.
 */
export function checkedBody<Schema extends z.ZodType>(
  schema: Schema,
  body: SentBody,
  maxProblems = 1,
): z.infer<Schema> {
  const result = schema.safeParse(body, { reportInput: true });
  if (!result.success) throw invalidRequest([...schemaProblems(result.error.issues)].slice(0, maxProblems));
  return result.data;
}

/** Returns the error for an invalid value at this path of the body. */
export function refused(path: string, message: string): Error {
  return invalidRequest([{ field: path, message }]);
}

/** Returns a text that the schema does not check, or `undefined` if it is missing. @throws {ServiceError} `invalid_request`. */
export function textAt(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return undefined;
  throw refused(path, 'must be a string');
}

/**
 * Yields the paths of the members that a schema has left out, such as `top_k` or `metadata.team`.
 *
 * @param sent the value as it was sent.
 * @param used the value as the schema has returned it. What the schema passes on is the same object, and is skipped.
 * @param inLists whether the items of lists count. Their positions are not part of a path.
 */
export function* ignoredPaths(
  sent: unknown,
  used: unknown,
  { inLists = false, path = '' } = {},
): Generator<string, void> {
  if (sent === used || typeof sent !== 'object' || sent === null || typeof used !== 'object' || used === null) return;
  if (Array.isArray(sent)) {
    if (!inLists) return;
    for (const [index, item] of sent.entries())
      yield* ignoredPaths(item, (used as unknown[])[index], { inLists, path });
    return;
  }
  for (const [name, value] of Object.entries(sent)) {
    const member = path === '' ? name : `${path}.${name}`;
    const inner = Object.hasOwn(used, name) ? (used as Record<string, unknown>)[name] : undefined;
    if (inner !== undefined) yield* ignoredPaths(value, inner, { inLists, path: member });
    else if (value !== null) yield member;
  }
}
