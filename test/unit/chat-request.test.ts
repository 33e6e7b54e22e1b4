import fc from 'fast-check';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { ChatRequest } from '../../src/chat/request/chat-request.dto.js';

/** Without members named `__proto__`, which class-transformer drops before the decorators can see them. */
const anything = (fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>).filter(
  (value) => !JSON.stringify(value).includes('"__proto__"'),
);
const mostly = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: anything });

const message = mostly(
  fc.record(
    {
      role: mostly(fc.constantFrom('system', 'user', 'assistant')),
      content: mostly(fc.string({ minLength: 1 })),
      name: mostly(fc.constant(undefined)),
    },
    { requiredKeys: ['role', 'content'] },
  ),
);
const body = fc
  .record(
    {
      model: mostly(
        fc.constantFrom(
          'a/b',
          'a/b/c',
          'ab',
          '/b',
          'a/',
          'a b/c',
          '',
          `a/${'b'.repeat(254)}`,
          `a/${'b'.repeat(255)}`,
          'c'.repeat(300),
        ),
      ),
      messages: mostly(fc.array(message, { maxLength: 4 })),
      temperature: mostly(fc.double({ min: -1, max: 3, noNaN: true })),
      max_tokens: mostly(fc.oneof(fc.integer({ min: -1, max: 5 }), fc.double({ min: 0, max: 3, noNaN: true }))),
      unknown: anything,
    },
    { requiredKeys: [] },
  )
  .map((value) => JSON.parse(JSON.stringify(value)) as object);

function problemsOfTheDecorators(value: object): string[] {
  const options = { whitelist: true, forbidNonWhitelisted: true, stopAtFirstError: true };
  return namesOf(validateSync(plainToInstance(ChatRequest, value), options));
}

function namesOf(errors: readonly ValidationError[], parent = ''): string[] {
  return errors.flatMap(({ property, constraints = {}, children = [] }) => {
    const messages = Object.entries(constraints).map(([name, message]) =>
      name === 'whitelistValidation' ? 'is not a known member' : message,
    );
    return [
      ...messages.map((message) => `${parent}${property} ${message}`),
      ...namesOf(children, `${parent}${property}.`),
    ];
  });
}

const accepts = (value: object) => [...ChatRequest.problems(value)].length === 0;
const keepsTheRulesOfTheDecorators = (value: object) => problemsOfTheDecorators(value).length === 0;

describe('the quick check of a chat request', () => {
  it('accepts exactly what the decorators accept', () => {
    let accepted = 0;
    fc.assert(
      fc.property(body, (value) => {
        const verdict = accepts(value);
        if (verdict) accepted++;
        expect(verdict).toBe(keepsTheRulesOfTheDecorators(value));
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(0);
  });

  it('names what the decorators name, in the same words', () => {
    fc.assert(
      fc.property(body, (value) => {
        const named = [...ChatRequest.problems(value)].map(({ field, message }) => `${field} ${message}`);
        expect(named.toSorted()).toEqual(problemsOfTheDecorators(value).toSorted());
      }),
      { numRuns: 3000 },
    );
  });

  it('names a member called __proto__', () => {
    const value = JSON.parse('{"model":"a/b","messages":[{"role":"user","content":"Hi","__proto__":1}]}') as object;
    expect([...ChatRequest.problems(value)].map(({ field }) => field)).toEqual(['messages.0.__proto__']);
  });

  it.each([1000, 1001])('agrees with the decorators about %i messages', (count) => {
    const value = { model: 'a/b', messages: Array.from({ length: count }, () => ({ role: 'user', content: 'x' })) };
    expect(accepts(value)).toBe(count === 1000);
    expect(keepsTheRulesOfTheDecorators(value)).toBe(count === 1000);
  });
});
