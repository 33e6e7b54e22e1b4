import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChatRequest } from '../../src/chat/request/chat-request.dto.js';
import { ServiceError } from '../../src/platform/common/service-error.js';
import { parseJsonBody } from '../../src/platform/http/body/json/parse-json-body.js';
import { errorBody } from '../../src/platform/http/errors/send-error.js';
import { RequestValidationPipe } from '../../src/platform/http/request/request-validation.pipe.js';

const LIMIT_BYTES = 4 * 1024 * 1024;
const BOUNDS = { values: 4_000, depth: 32 };
/** CPU time: below 30 ms was measured. It was between 1 and 100 s before. */
const MAX_HOLD_MS = 400;
/** The collection of garbage takes CPU time by chance, the code takes it each time. */
const ATTEMPTS = 3;

const pipe = new RequestValidationPipe();
const CHAT = { type: 'body', metatype: ChatRequest } as const;

/** Does what the service does with a body that has arrived. */
async function judge(body: Buffer): Promise<{ readonly answer: string; readonly longestHoldMs: number }> {
  let answer = 'accepted';
  const stop = watchHolds();
  try {
    await pipe.transform(await parseJsonBody(body, BOUNDS), CHAT);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.code).toBe('invalid_request');
    answer = JSON.stringify(errorBody(error, 'x'.repeat(128)));
  }
  return { answer, longestHoldMs: stop() };
}

/** @returns ends the watch, and gives the highest CPU time between two turns of the event loop. */
function watchHolds(): () => number {
  let longestMs = 0;
  let turnAt = process.cpuUsage();
  let isWatching = true;
  const turn = (): void => {
    const { user, system } = process.cpuUsage(turnAt);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    turnAt = process.cpuUsage();
    if (isWatching) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    turn();
    isWatching = false;
    return longestMs;
  };
}

async function expectCheap(body: Buffer): Promise<string> {
  let longestHoldMs = Infinity;
  let answer = '';
  for (let attempt = 0; attempt < ATTEMPTS && longestHoldMs > MAX_HOLD_MS; attempt++) {
    ({ answer, longestHoldMs } = await judge(body));
  }
  expect(longestHoldMs).toBeLessThan(MAX_HOLD_MS);
  expect(Buffer.byteLength(answer)).toBeLessThan(16_000);
  if (answer === 'accepted') return answer;
  const { error } = JSON.parse(answer) as ReturnType<typeof errorBody>;
  expect(error.details?.length ?? 0).toBeLessThanOrEqual(20);
  for (const { field } of error.details ?? []) expect(field.length).toBeLessThanOrEqual(200);
  return answer;
}

/** Repeats a unit up to the limit of a body. */
const fill = (unit: string, before = '', after = '') => {
  const count = Math.floor((LIMIT_BYTES - Buffer.byteLength(before + after)) / Buffer.byteLength(unit));
  return Buffer.from(before + unit.repeat(count) + after);
};
const message = (unit: string) => fill(unit, '{"model":"a/b","messages":[{"role":"user","content":"', '"}]}');

/** Bodies that once held up the event loop: long texts, many members, deep nesting, and as many problems as the bounds allow. */
const KNOWN: readonly Buffer[] = [
  ...['x', '\\u0000', '\\n', '中', '\\ud83d\\ude00', '\\ud83d'].map(message),
  fill('\\"', '{"model":"a/b","messages":[{"role":"user","content":"中', '"}]}'),
  fill(' ', '{"model":"a/b","messages":[{"role":"user","content":"x"}]}'),
  fill('0', '{"model":"a/b","messages":[{"role":"user","content":"x"}],"temperature":0.', '}'),
  fill('{},', '{"model":"a/b","messages":[', '{}]}'),
  fill('"m":1,', '{', '"m":1}'),
  fill('{"a":1},', '{"messages":[{"content":[', '1]}]}'),
  fill('['),
  fill('9', '{"temperature":', '}'),
  fill('9', '{"temperature":1e', '}'),
  fill('n', '{"', '":1}'),
  fill('b', '{"model":"a/', '"}'),
  fill('b', '{"model":"a/b","messages":[{"role":"', '","content":"x"}]}'),
  fill('{"toString":1},', '{"messages":[', '{}]}'),
  ...[
    Object.fromEntries(Array.from({ length: 3_990 }, (_, index) => [`m${index}`, 1])),
    { messages: Array(1000).fill({ a: 1, b: 2 }) },
    { messages: Array(1000).fill({}), others: Array(900).fill({}) },
    { model: 7, messages: Array(700).fill({ role: 'x'.repeat(1000), content: 1, toString: 2, ['n'.repeat(190)]: 3 }) },
  ].map((wrong) => Buffer.from(JSON.stringify(wrong))),
];

const unit = fc.constantFrom(
  'x',
  '"',
  '\\',
  '\\"',
  '\\u0000',
  '\\ud83d',
  '中',
  '😀',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '1',
  ' ',
  'e9',
  '\u0001',
);
const word = fc.array(unit, { minLength: 1, maxLength: 4 }).map((units) => units.join(''));
const name = fc.oneof(
  fc.constantFrom('model', 'messages', 'role', 'content', 'toString', '__proto__', 'constructor', 'temperature'),
  fc.tuple(word, fc.integer({ min: 1, max: 90_000 })).map(([text, length]) => text.repeat(length).slice(0, length)),
);
const scalar = fc.oneof(
  fc.constantFrom('1', 'null', 'true', '-0.5e300', '"user"', '""'),
  fc
    .tuple(word, fc.integer({ min: 0, max: 200_000 }))
    .map(([text, count]) => JSON.stringify(text.repeat(count).slice(0, 400_000))),
);
const many = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 300_000 }));
/** JSON that is wide, deep, long, or all of it, and cut at 4 MiB. */
const { hostile } = fc.letrec<{ hostile: string }>((tie) => ({
  hostile: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    scalar,
    fc.tuple(tie('hostile'), many).map(([item, count]) => `[${repeated(`${item},`, count)}1]`),
    fc
      .tuple(name, tie('hostile'), many)
      .map(([key, value, count]) => `{${repeated(`${quoted(key)}:${value},`, count)}"a":1}`),
    fc
      .tuple(name, tie('hostile'), fc.integer({ min: 1, max: 5_000 }))
      .map(([key, value, depth]) => repeated(`{"toString":1,${quoted(key)}:`, depth) + value + repeated('}', depth)),
    fc.array(fc.tuple(name, tie('hostile')), { maxLength: 4 }).map((members) => objectOf(members)),
  ),
}));

const quoted = (key: string) => JSON.stringify(key);
const objectOf = (members: readonly (readonly [string, string])[]) =>
  `{${members.map(([key, value]) => `${quoted(key)}:${value}`).join(',')}}`;
function repeated(part: string, count: number): string {
  return part.repeat(Math.min(count, Math.ceil(LIMIT_BYTES / part.length)));
}

const body = fc
  .tuple(
    fc.oneof(
      hostile,
      hostile.map((value) => `{"model":"a/b","messages":[{"role":"user","content":${value}}]}`),
      hostile.map((value) => `{"model":"a/b","messages":${value}}`),
      fc.tuple(name, hostile).map(([key, value]) =>
        objectOf([
          ['model', '"a/b"'],
          [key, value],
        ]),
      ),
    ),
    fc.oneof(
      { weight: 5, arbitrary: fc.constant(1) },
      { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
    ),
    fc.option(fc.tuple(fc.nat(), fc.constantFrom(0xff, 0xc0, 0xe4, 0x00)), { freq: 5 }),
  )
  .map(([text, share, flaw]) => {
    const bytes = Buffer.from(text).subarray(0, LIMIT_BYTES);
    const cut = Buffer.from(bytes.subarray(0, Math.ceil(bytes.length * share)));
    if (flaw !== null && cut.length > 0) cut[flaw[0] % cut.length] = flaw[1];
    return cut;
  });

describe('any body of up to 4 MiB', () => {
  it('is accepted or refused in short steps, with a short answer', async () => {
    await fc.assert(
      fc.asyncProperty(body, async (bytes) => {
        await expectCheap(bytes);
      }),
      {
        examples: KNOWN.map((known): [Buffer] => [known]),
        numRuns: KNOWN.length + 60,
        ...{ interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
      },
    );
  });
});
