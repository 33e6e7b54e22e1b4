import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listOf } from '../../../../../src/plugins/compatible/shared/checked-body.js';

const problemsOf = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value).error?.issues.map(({ path, code }) => [path.join('.'), code]) ?? [];

describe('the schema of a list', () => {
  it('stops at the first invalid item', () => {
    let checked = 0;
    const text = z.string().refine(() => ++checked > 0);
    const list = listOf(text.min(2));
    expect(problemsOf(z.object({ list }), { list: ['ab', 'c', 'd', 5] })).toEqual([['list.1', 'too_small']]);
    expect(checked).toBe(2);
  });

  it('names all problems of the first invalid item', () => {
    const list = listOf(z.object({ a: z.string(), b: listOf(z.number()) }));
    expect(problemsOf(list, [{ a: 1, b: [1, 'x', 'y'] }, {}])).toEqual([
      ['0.a', 'invalid_type'],
      ['0.b.1', 'invalid_type'],
    ]);
  });

  it('returns the items as their schema returns them', () => {
    expect(listOf(z.object({ a: z.string() })).parse([{ a: 'x', b: 1 }])).toEqual([{ a: 'x' }]);
  });

  it('has bounds, also as a part of another schema', () => {
    const list = listOf(z.string(), 2).min(1).describe('Names.');
    expect(problemsOf(list, [])).toEqual([['', 'too_small']]);
    expect(problemsOf(list, 'x')).toEqual([['', 'invalid_type']]);
    // The items of a list that is too long are not checked.
    expect(problemsOf(list.nullish(), [1, 2, 3])).toEqual([['', 'too_big']]);
    expect(z.toJSONSchema(list)).toMatchObject({
      ...{ type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2, description: 'Names.' },
    });
  });
});
