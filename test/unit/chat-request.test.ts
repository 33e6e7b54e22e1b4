import fc from 'fast-check';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { ChatRequest } from '../../src/chat/request/chat-request.dto.js';
import { ServiceError } from '../../src/common/service-error.js';
import { RequestValidationPipe } from '../../src/http/request/request-validation.pipe.js';

/** The names that every object inherits: `toString`, `__proto__`. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype);

const anything = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>;
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
/** Some of them must be acceptable, which hardly any of the others is. */
const acceptable = fc.record(
  {
    model: fc.constantFrom('a/b', 'a/b/c'),
    messages: fc.array(fc.record({ role: fc.constant('user'), content: fc.string({ minLength: 1 }) }), {
      minLength: 1,
      maxLength: 4,
    }),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    max_tokens: fc.integer({ min: 1, max: 5 }),
  },
  { requiredKeys: ['model', 'messages'] },
);
/** Members with an inherited name are dropped by class-transformer, before the decorators can name them. */
const bodyThatDecoratorsSee = body.filter((value) => !hasInheritedName(value));

function hasInheritedName(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, inner]) => INHERITED.includes(name) || hasInheritedName(inner));
}

/** A class without a quick check of its own: the pipe uses its decorators. */
class DecoratedRequest extends ChatRequest {}
const pipe = new RequestValidationPipe();

/** @returns the fields that the pipe refuses by the decorators. */
async function refusedByThePipe(value: object): Promise<string[]> {
  try {
    await pipe.transform(value, { type: 'body', metatype: DecoratedRequest });
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return (error.details ?? []).map(({ field }) => field);
  }
}

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

const problemsOf = (value: object) =>
  [...ChatRequest.problems(value)].map(({ field, message }) => `${field} ${message}`);
const accepts = (value: object) => problemsOf(value).length === 0;
const acceptsByDecorators = async (value: object) => (await refusedByThePipe(value)).length === 0;

describe('the quick check of a chat request', () => {
  it('accepts exactly what the decorators accept', async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 9, arbitrary: body }, { weight: 1, arbitrary: acceptable }),
        async (value) => {
          const verdict = accepts(value);
          if (verdict) accepted++;
          expect(verdict).toBe(await acceptsByDecorators(value));
        },
      ),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  it('names what the decorators name, in the same words', () => {
    fc.assert(
      fc.property(bodyThatDecoratorsSee, (value) => {
        expect(problemsOf(value).toSorted()).toEqual(problemsOfTheDecorators(value).toSorted());
      }),
      { numRuns: 3000 },
    );
  });

  it.each(INHERITED)('refuses a member called %s, as the pipe does for the decorators', async (name) => {
    const good = '"model":"a/b","messages":[{"role":"user","content":"Hi"';
    for (const [text, field] of [
      [`{${good}}],"${name}":false}`, name],
      [`{${good},"${name}":false}]}`, `messages.0.${name}`],
    ] as const) {
      const value = JSON.parse(text) as object;
      expect(problemsOf(value)).toEqual([`${field} is not a known member`]);
      expect(await refusedByThePipe(value)).toEqual([field]);
    }
  });

  it('names a member called toString beside all other problems', () => {
    expect(problemsOf({ messages: [{ toString: false }] })).toEqual([
      'model must be a string',
      'messages.0.toString is not a known member',
      'messages.0.role must be one of system, user, assistant',
      'messages.0.content must be a string',
    ]);
  });

  it.each([1000, 1001])('agrees with the decorators about %i messages', async (count) => {
    const value = { model: 'a/b', messages: Array.from({ length: count }, () => ({ role: 'user', content: 'x' })) };
    expect(accepts(value)).toBe(count === 1000);
    expect(await acceptsByDecorators(value)).toBe(count === 1000);
  });
});
