import { z } from 'zod';

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
