import { describe, expect, it } from 'vitest';
import { Registry } from '../../../../src/platform/common/registry.js';

function valuesOf<T>(registry: Registry<T>): T[] {
  const values: T[] = [];
  registry.forEach((value) => values.push(value));
  return values.sort();
}

describe('a registry', () => {
  it('holds the values that are not removed, and equal values once for each addition', () => {
    const registry = new Registry<string>();
    const [removeA, removeB, removeC] = ['a', 'b', 'a'].map((value) => registry.add(value));

    expect(valuesOf(registry)).toEqual(['a', 'a', 'b']);
    expect(removeA?.()).toBe(true);
    expect(valuesOf(registry)).toEqual(['a', 'b']);
    expect(removeA?.()).toBe(false);
    expect([registry.size, removeC?.(), registry.size, removeB?.(), registry.size]).toEqual([2, true, 1, true, 0]);
  });

  it('skips a value that is removed during an iteration', () => {
    const registry = new Registry<string>();
    const removals = ['a', 'b', 'c'].map((value) => registry.add(value));
    const visited: string[] = [];

    registry.forEach((value) => {
      visited.push(value);
      for (const remove of removals) remove();
    });

    expect(visited).toEqual(['a']);
    expect(registry.size).toBe(0);
  });
});
