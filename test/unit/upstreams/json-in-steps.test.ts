import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonInSteps } from '../../../src/upstreams/protocols/shared/json-in-steps.js';

const text = fc
  .tuple(
    fc.string({
      unit: fc.constantFrom('x', '"', '\n', '中', '😀', '\ud83d', '\ude00', '\u0000'),
      minLength: 1,
      maxLength: 7,
    }),
    fc.integer({ min: 1, max: 12_000 }),
    fc.nat({ max: 3 }),
  )
  .map(([part, count, shift]) => 'y'.repeat(shift) + part.repeat(count));
const value = fc.record(
  { model: fc.string(), messages: fc.array(fc.record({ role: fc.string(), content: text })), other: fc.jsonValue() },
  { requiredKeys: [] },
);

describe('JSON that is written in steps', () => {
  it('is the same as JSON that is written at once', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (members) => {
        const written = await jsonInSteps({ ...members, missing: undefined });
        expect(written.toString()).toBe(JSON.stringify(members));
      }),
    );
  });

  it('lets the event loop turn', async () => {
    let turns = 0;
    let isRunning = true;
    const count = (): void => {
      turns += 1;
      if (isRunning) setImmediate(count);
    };
    setImmediate(count);
    await jsonInSteps({ content: '\ud83d'.repeat(1_000_000) });
    isRunning = false;
    expect(turns).toBeGreaterThan(3);
  });
});
