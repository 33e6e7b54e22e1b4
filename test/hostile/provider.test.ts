import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL, routesTo } from '../support/catalog.js';
import type { Script } from '../../src/testing/provider/scripted-provider.js';
import { stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { readWire } from '../support/wire.js';
import { MAX_HEALTH_MS, Target } from './support/target.js';

const MIB = 1024 * 1024;
const MAX_GROWTH_MIB = 100;
const HOUR_SECONDS = 3_600;
const LARGE = 'acme/large';
const RETRY_AFTER = ['31536000', '99999999999999999999', 'Fri, 31 Dec 2100 23:59:59 GMT'];
const freshModel = (index: number): string => `acme/fresh-${index}`;
const PROMPT = 'the secret of the caller';

const nested = (opening: string, closing: string, bytes: number): string => {
  const levels = Math.floor(bytes / (opening.length + closing.length));
  return opening.repeat(levels) + '0' + closing.repeat(levels);
};
const members = (bytes: number): string =>
  `{${Array.from({ length: Math.floor(bytes / 14) }, (_, number) => `"m${String(number).padStart(8, '0')}":1`).join(',')}}`;
const choice = (text: string): string =>
  `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}}}]}\n\n`;

/** After some text, so that the breaker and other routes have no part in it. */
const sending =
  (data: string): Script =>
  (call) => {
    call.head().write(choice('Hi')).write(`data: ${data}\n\n`).end();
  };

/** Sends the pieces as fast as the service takes them, until it has enough. */
const endless =
  (piece: string): Script =>
  async (call) => {
    call.head();
    while (call.abortedAt === undefined && call.bytesWritten < 200 * MIB) {
      call.write(piece);
      await call.drained();
    }
    call.end();
  };

describe('a provider', () => {
  let target: Target;
  let key: string;

  beforeAll(async () => {
    target = await Target.start({
      catalog: (provider) => {
        const { upstreams, models } = routesTo([provider]);
        const large = { ...(upstreams['acme'] as object), max_event_bytes: 8 * MIB };
        const routes = [{ upstream: 'large', model: 'large' }];
        const model = { id: LARGE, name: 'Large', provider: 'Acme', context_length: 8192, routes };
        // Failures and `Retry-After` start a cooldown of a route, so these tests have models of their own.
        const fresh = [...RETRY_AFTER, 'labels'].map((_, index) => ({
          ...model,
          id: freshModel(index),
          routes: [{ upstream: 'acme', model: `fresh-${index}` }],
        }));
        return { upstreams: { ...upstreams, large }, models: [...models, model, ...fresh] };
      },
    });
    key = await target.createKey();
    await stream(target.origin, { key });
  });
  afterAll(() => target.stop());

  const ask = (script: Script, model = MODEL) => {
    target.provider.next(script);
    return stream(target.origin, { key, body: { model, messages: [{ role: 'user', content: PROMPT }] } });
  };

  it.each<[string, Script]>([
    ['one event of 7 MB of nested arrays', sending(nested('[', ']', 7 * MIB))],
    ['one event of 7 MB of nested objects', sending(nested('{"a":', '}', 7 * MIB))],
    ['events just below the limit, as deep as they can be', sending(nested('[', ']', MIB - 100))],
    ['events just below the limit, of as many members as fit', sending(members(MIB - 100))],
    ['a line without an end', endless('x'.repeat(64 * 1024))],
    ['an event of lines without an end', endless('data: x\n'.repeat(8 * 1024))],
    ['comments without an end', endless(': x\n\n'.repeat(8 * 1024))],
  ])('that sends %s has failed, and costs the others next to nothing', async (_, script) => {
    const before = await target.residentMiB();
    const health = await target.healthDuring(async () => {
      const answer = await ask(script);
      if (answer.status === 200) expect(readWire(answer.raw).terminal).toBe('upstream_error');
      else expect((await answer.error()).code).toBe('upstream_error');
    });
    expect(health.failed).toBe(0);
    expect(health.longestMs).toBeLessThan(MAX_HEALTH_MS);
    expect((await target.residentMiB()) - before).toBeLessThan(MAX_GROWTH_MIB);
  });

  it('may send larger events where the upstream says so', async () => {
    const text = 'x'.repeat(2 * MIB);
    const script: Script = (call) => {
      call.head().write(choice(text)).finish().endMarker().end();
    };
    expect(readWire((await ask(script, LARGE)).raw)).toMatchObject({ text, terminal: 'done' });
    expect(readWire((await ask(script)).raw).terminal).not.toBe('done');
  });

  it.each(RETRY_AFTER.map((retryAfter, index) => [retryAfter, index] as const))(
    'that demands a cooldown until "%s" is believed for an hour',
    async (retryAfter, index) => {
      const answer = await ask((call) => {
        call.refuse(429, { 'retry-after': retryAfter });
      }, freshModel(index));
      const seconds = Number(answer.headers['retry-after']);
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(HOUR_SECONDS);
    },
  );

  it('that repeats the prompt as a label of its error does not expose the prompt', async () => {
    const error = { type: PROMPT, code: PROMPT, param: PROMPT, message: PROMPT, metadata: { error_type: PROMPT } };
    const model = freshModel(RETRY_AFTER.length);
    const answers = [
      await ask((call) => {
        call.refuse(400, {}, JSON.stringify({ error }));
      }, model),
      await ask((call) => {
        call
          .head()
          .text('Hi')
          .write(`data: ${JSON.stringify({ error })}\n\n`)
          .end();
      }, model),
    ];
    for (const answer of answers) expect(await answer.body()).not.toContain(PROMPT);
    for (const told of ['"HTTP 400 other"', '"other"']) {
      await waitFor(() => target.process.stdout.includes(told), `the log to say ${told}`);
    }
    expect(target.process.stdout).not.toContain(PROMPT);
  });
});
