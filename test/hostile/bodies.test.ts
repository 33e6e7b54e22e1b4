import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL } from '../support/catalog.js';
import { retryWhileOverloaded } from '../support/retry-while-overloaded.js';
import { stream, type ReceivedStream, type StreamOptions } from '../support/sse-client.js';
import { Target } from './support/target.js';
import { Upload } from './support/upload.js';

const LIMIT_BYTES = 4 * 1024 * 1024;
/** Below 50 ms on an idle machine, and longer on a busy one. These bodies took 3 to 220 s before they were bounded. */
const MAX_LATENCY_MS = 2_500;
const MAX_ANSWER_BYTES = 16_000;
/** MiB above what the process uses at rest. */
const MAX_MEMORY_MIB = 250;

const fill = (unit: string, before = '', after = '') => {
  const count = Math.floor((LIMIT_BYTES - Buffer.byteLength(before + after)) / Buffer.byteLength(unit));
  return Buffer.from(before + unit.repeat(count) + after);
};
const message = (unit: string, first = '') =>
  fill(unit, `{"model":"${MODEL}","messages":[{"role":"user","content":"${first}`, '"}]}');
const messages = (content: string) =>
  Buffer.from(
    JSON.stringify({ model: MODEL, messages: Array.from({ length: 1000 }, () => ({ role: 'user', content })) }),
  );

describe('with a heap of 512 MB, a body', () => {
  let target: Target;
  let key: string;
  let restMiB: number;

  beforeAll(async () => {
    target = await Target.start({
      tiers: { free: { requests_per_minute: 10_000 } },
      env: { NODE_OPTIONS: '--max-old-space-size=512' },
    });
    key = await target.createKey();
    await stream(target.origin, { key });
    restMiB = await target.residentMiB();
  });
  afterAll(() => target.stop());

  /** Sends the body while `/health` is asked, and judges what it cost. */
  async function send(body: Buffer, options: StreamOptions = {}): Promise<ReceivedStream> {
    let answer: ReceivedStream | undefined;
    const health = await target.healthDuring(async () => {
      answer = await retryWhileOverloaded(() => stream(target.origin, { key, body, ...options }));
    });
    expect(health.failed).toBe(0);
    expect(health.longestMs).toBeLessThan(MAX_LATENCY_MS);
    expect((await target.residentMiB()) - restMiB).toBeLessThan(MAX_MEMORY_MIB);
    if (answer === undefined) throw new Error('There is no answer.');
    return answer;
  }

  async function expectRefused(answer: ReceivedStream, field: string): Promise<void> {
    expect(answer.status).toBe(400);
    expect(answer.receivedBytes).toBeLessThan(MAX_ANSWER_BYTES);
    const { code, details = [] } = await answer.error();
    expect(code).toBe('invalid_request');
    expect(details.length).toBeLessThanOrEqual(20);
    expect(details[0]?.field).toContain(field);
    for (const one of details) expect(one.field.length).toBeLessThanOrEqual(200);
  }

  it.each<[string, () => Buffer, string]>([
    [
      'with items under a name of 90,000 characters',
      () => Buffer.from(`{"${'n'.repeat(90_000)}":[${'{"toString":1},'.repeat(5_800)}1]}`),
      'nnnn',
    ],
    ['with 300,000 unknown members', () => Buffer.from(`{${numbered(300_000)}}`), 'body'],
    ['with 1,300,000 empty messages', () => fill('{},', `{"model":"${MODEL}","messages":[`, '{}]}'), 'messages'],
    [
      'with names of 2,400 characters, nested 1,200 deep',
      () => Buffer.from(`{"toString":1,"${'n'.repeat(2_400)}":`.repeat(1_200) + '1' + '}'.repeat(1_200)),
      'nnnn',
    ],
    ['that is nested 4,000,000 deep', () => fill('['), '0.0.0'],
    [
      'with 1,001 messages',
      () => Buffer.from(`{"model":"${MODEL}","messages":[${'{},'.repeat(1_000)}{}]}`),
      'messages',
    ],
    [
      'with a model of 4 MiB',
      () => fill('x', '{"model":"a/', '","messages":[{"role":"user","content":"x"}]}'),
      'model',
    ],
    [
      'with 1,000 messages that are wrong in several ways',
      () =>
        Buffer.from(
          `{"model":"${MODEL}","messages":[${'{"role":"x","content":1,"toString":2,"__proto__":3},'.repeat(1_000)}{}]}`,
        ),
      'messages',
    ],
    [
      'with 1,000 messages whose roles are wrong',
      () =>
        Buffer.from(
          JSON.stringify({
            model: MODEL,
            messages: Array.from({ length: 1000 }, () => ({ role: 'x'.repeat(4_000), content: '' })),
          }),
        ),
      'messages.0.role',
    ],
  ])('%s is refused at once, in a few words', async (_, make, field) => {
    await expectRefused(await send(make()), field);
  });

  it('with too many messages says how many there may be, also where there are hundreds more', async () => {
    for (const count of [1_001, 1_300]) {
      const wrong = `{"model":"${MODEL}","messages":[${Array.from({ length: count }, () => '{"role":"user","content":"x"}').join()}]}`;
      const { details = [] } = await (await stream(target.origin, { key, body: wrong })).error();
      expect(details).toEqual([{ field: 'messages', message: 'must contain at most 1000 messages' }]);
    }
  });

  it.each<[string, () => Buffer]>([
    ['long text', () => message('x')],
    ['wide characters', () => message('中')],
    ['emoji', () => message('😀')],
    ['escaped quotes beside a wide character', () => message('\\"', '中')],
    ['escaped line ends', () => message('\\n')],
    ['control characters', () => message('\\u0000')],
    ['halves of surrogate pairs', () => message('\\ud83d')],
    ['1,000 messages of 4 KB', () => messages('x"\n'.repeat(800))],
    ['white space', () => fill(' ', `{"model":"${MODEL}",`, '"messages":[{"role":"user","content":"x"}]}')],
  ])('of 4 MiB of %s is answered, and the provider gets it as it is', async (_, make) => {
    const body = make();
    const calls = target.provider.calls.length;
    const answer = await send(body);

    expect(answer.status).toBe(200);
    const call = await target.provider.call(calls + 1);
    expect(call.headers['content-length']).toBe(String(Buffer.byteLength(call.body)));
    expect(call.json['messages']).toEqual((JSON.parse(body.toString()) as { messages: unknown }).messages);
  });

  it.each<[string, Buffer]>([
    ['is cut short', message('\\n').subarray(0, -2)],
    [
      'is not UTF-8 at its end',
      Buffer.concat([message('中').subarray(0, -6), Buffer.from([0xe4, 0xb8]), Buffer.from('"}]}')]),
    ],
    ['has a number of 4 MiB', fill('9', '{"temperature":', '}')],
  ])('that %s is refused', async (_, body) => {
    const answer = await send(body);
    expect(answer.status).toBe(400);
    expect(answer.receivedBytes).toBeLessThan(MAX_ANSWER_BYTES);
  });

  it('that comes in a million chunks is refused before its end', async () => {
    const upload = await Upload.start(target.origin, key, { chunked: true });
    const health = await target.healthDuring(async () => {
      void upload.write('1\r\nx\r\n'.repeat(1_000_000));
      await upload.answered;
    });

    expect(upload.status).toBe(400);
    expect(health.longestMs).toBeLessThan(MAX_LATENCY_MS);
    upload.leave();
  });
});

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `"m${index}":1`).join();
}
