import { describe, expect, it } from 'vitest';
import { recoverableJson } from '../../../../src/usage/ledger/record-writer.js';

describe('a record as a text that can be recovered', () => {
  it('is its JSON, with the values that JSON does not support as texts', () => {
    expect(recoverableJson({ a: 7n, b: NaN, c: -Infinity, d: 1.5, e: null, f: [true, 'x'], g: undefined })).toBe(
      '{"a":"7","b":"NaN","c":"-Infinity","d":1.5,"e":null,"f":[true,"x"]}',
    );
  });

  it('has texts of up to 1,000 characters', () => {
    const [whole, long] = ['x'.repeat(1000), 'x'.repeat(1001)];
    expect(recoverableJson({ whole, long })).toBe(`{"whole":"${whole}","long":"${whole}…"}`);
  });

  it('has up to 100,000 characters', () => {
    const many = { texts: Array.from({ length: 200 }, () => 'x'.repeat(1000)) };
    expect(recoverableJson(many)).toHaveLength(100_000);
    const circular: Record<string, unknown> = Object.fromEntries(many.texts.entries());
    circular['self'] = circular;
    expect(recoverableJson(circular)).toHaveLength(100_000);
  });

  it('is readable for a person where JSON is impossible', () => {
    const circular: Record<string, unknown> = { text: 'x'.repeat(1001) };
    circular['self'] = circular;
    const text = recoverableJson(circular);
    expect(text).toContain('[Circular *1]');
    expect(text).toContain(`'${'x'.repeat(1000)}'... 1 more character`);
  });
});
