import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { UpstreamConfig } from '../../../src/config/config.js';
import type { ChatCall } from '../../../src/upstreams/contract/chat-call.js';
import type { CallContext } from '../../../src/upstreams/contract/call-context.js';
import type { ProviderEvent } from '../../../src/upstreams/contract/framing.js';
import type { HttpProtocol, UpstreamRequest } from '../../../src/upstreams/contract/protocol.js';
import type { StreamPart } from '../../../src/upstreams/contract/stream-part.js';
import type { Fixture } from './fixtures.js';
import { byteByByte, cutAt, replay } from './replay.js';

export interface ProtocolContract {
  readonly protocol: HttpProtocol;
  /** Recorded streams of providers that speak it. */
  readonly fixtures: readonly Fixture[];
  /** Words of its JSON: what arbitrary events are made of, so that they reach more than the first check. */
  readonly vocabulary: readonly string[];
  /** The media type that a request asks for. By default a stream of server-sent events. */
  readonly accept?: string;
  /** The body of a request with one message, "Hello", to the model "fast-1". */
  readonly body?: object;
  /** Whether the framing has names of events. By default true. */
  readonly hasEventNames?: boolean;
}

/** Streams up to this length are cut at every position, longer ones at as many random ones. */
const EVERY_POSITION_UP_TO = 1_500;
const RANDOM_CUTS = 300;

const ORDER: readonly StreamPart['type'][] = ['reasoning', 'text', 'progress', 'usage', 'finish', 'complete', 'error'];

export const ACME: UpstreamConfig = {
  name: 'acme',
  protocol: 'acme',
  baseUrl: new URL('https://api.example.com'),
  apiKey: 'secret-key',
  headers: {},
  options: undefined,
  timeouts: { connectMs: 1_000, firstTokenMs: 1_000, idleMs: 1_000 },
  maxTokensField: 'max_tokens',
  includeUsage: true,
  maxEventBytes: 1024 * 1024,
};

export const HELLO: ChatCall = {
  model: 'fast-1',
  messages: [{ role: 'user', content: 'Hello' }],
  temperature: 0.7,
  maxTokens: undefined,
  modelMaxOutputTokens: undefined,
};

export const CONTEXT: CallContext = {
  requestId: 'request-1',
  accountId: 'account-1',
  signal: new AbortController().signal,
  fetch: () => Promise.reject(new Error('This protocol needs no other request.')),
};

const SSE_BODY = { model: 'fast-1', stream: true, messages: [{ role: 'user', content: 'Hello' }] };

/** An upstream of the protocol, with the defaults of its options. */
export function upstreamOf({ options }: HttpProtocol, upstream = ACME): UpstreamConfig {
  const result = options?.['~standard'].validate(upstream.options ?? {});
  if (result === undefined || result instanceof Promise || result.issues !== undefined) return upstream;
  return { ...upstream, options: result.value };
}

/** What every protocol over HTTP must do, whichever provider it speaks to. */
export function describeProtocol({
  protocol,
  fixtures,
  vocabulary,
  accept = 'text/event-stream',
  body = SSE_BODY,
  hasEventNames = true,
}: ProtocolContract): void {
  const partsOf = (event: ProviderEvent) =>
    protocol.open(HELLO, upstreamOf(protocol)).parts(hasEventNames ? event : { ...event, event: 'message' });
  const requestOf = async (call: ChatCall = HELLO, upstream = ACME): Promise<UpstreamRequest> =>
    protocol.request(call, upstreamOf(protocol, upstream), CONTEXT);

  describe(`protocol ${protocol.name}`, () => {
    describe.each(fixtures)('reading $name', ({ bytes, expected }) => {
      it('gives the answer when it arrives in one read', () => {
        expect(replay(protocol, [bytes])).toEqual(expected);
      });

      it('gives the same answer byte by byte', () => {
        expect(replay(protocol, byteByByte(bytes))).toEqual(expected);
      });

      it('gives the same answer wherever it is split', () => {
        if (bytes.length <= EVERY_POSITION_UP_TO) {
          for (let position = 0; position <= bytes.length; position++) {
            expect(replay(protocol, cutAt(bytes, position)), `split at ${position}`).toEqual(expected);
          }
          return;
        }
        const positions = fc.array(fc.nat(bytes.length), { minLength: 1, maxLength: 6 });
        fc.assert(
          fc.property(positions, (cuts) => {
            expect(replay(protocol, cutAt(bytes, ...cuts))).toEqual(expected);
          }),
          { numRuns: RANDOM_CUTS },
        );
      });
    });

    describe('with events that make no sense', () => {
      const names = fc.oneof(fc.constantFrom('message', 'error', 'ping'), fc.string());

      it('never throws, and keeps the order of parts, for any text', () => {
        fc.assert(fc.property(names, fc.string({ unit: 'binary' }), checkParts), { numRuns: 1_000 });
      });

      it('never throws, and keeps the order of parts, for any JSON', () => {
        const event = fc.property(names, fc.oneof(fc.json(), fromVocabulary(vocabulary)), checkParts);
        fc.assert(event, { numRuns: 3_000 });
      });

      it('tells text that is not JSON as a failure of the provider', () => {
        expect(partsOf({ event: 'message', data: '<html>' })).toMatchObject([
          { type: 'error', error: { code: 'upstream_error' } },
        ]);
      });

      it.each(['null', '7', '"text"', 'true', '[]', '[{}]'])('tells %s as a failure of the provider', (data) => {
        expect(partsOf({ event: 'message', data })).toMatchObject([
          { type: 'error', error: { code: 'upstream_error' } },
        ]);
      });

      it.each(['', ' ', '\n'])('takes an event of white space (%j) for a sign that the connection lives', (data) => {
        expect(partsOf({ event: 'message', data })).toEqual([]);
      });

      it('says nothing of an object that it does not know', () => {
        expect(partsOf({ event: 'message', data: '{"brand":"new"}' })).toEqual([]);
      });
    });

    describe('with an event that would be expensive to read', () => {
      const nested = (depth: number) => `{"brand":${'['.repeat(depth)}"${'x'.repeat(3_000)}"${']'.repeat(depth)}}`;

      it('reads a text of any length, whatever stands in it', () => {
        const brand = `${'[{,'.repeat(100_000)}"\\\\" \\`;
        expect(partsOf({ event: 'message', data: JSON.stringify({ brand }) })).toEqual([]);
      });

      it('reads as much structure as providers send', () => {
        expect(partsOf({ event: 'message', data: nested(32) })).toEqual([]);
        const logprobs = Array.from({ length: 1_000 }, () => ({ token: 'x', logprob: -0.5, bytes: [120] }));
        expect(partsOf({ event: 'message', data: JSON.stringify({ logprobs }) })).toEqual([]);
      });

      it.each([
        ['is nested deeply', nested(100)],
        ['is nested without end', '['.repeat(1_000_000)],
        ['holds objects without end', `{"brand":[${'{},'.repeat(300_000)}1]}`],
        ['holds members without end', `{"brand":{${'"a":0,'.repeat(100_000)}"b":0}}`],
        ['never ends its text', `{"brand":"${'\\\\'.repeat(100_000)}`],
      ])('tells one that %s as a failure of the provider, at once', (_, data) => {
        const startedAt = process.cpuUsage();
        const parts = partsOf({ event: 'message', data });
        const { user, system } = process.cpuUsage(startedAt);
        expect(parts).toMatchObject([{ type: 'error', error: { code: 'upstream_error' } }]);
        expect((user + system) / 1000).toBeLessThan(50);
      });
    });

    describe('with a failure that the provider tells', () => {
      const text = `the key sk-secret is blocked ${'x'.repeat(1_000)}`;
      const events: readonly ProviderEvent[] = [
        { event: 'error', data: text },
        { event: 'error', data: JSON.stringify({ type: 'error', error: { type: 'server_error', message: text } }) },
        ...(hasEventNames ? [{ event: 'error', data: JSON.stringify({ message: text, code: 429 }) }] : []),
        { event: 'error', data: JSON.stringify({ error: { type: 'secret', code: 'my secret', status: 4_242 } }) },
        { event: 'error', data: JSON.stringify({ error: { type: text, metadata: { error_type: 'a.secret' } } }) },
      ];

      it.each(events)('keeps the text of the provider from the caller and from the log: %o', (event) => {
        const [part] = partsOf(event);
        if (part?.type !== 'error') throw new Error('There is no error part.');
        expect(part.error.message).not.toContain('secret');
        expect(String(part.error.cause)).not.toContain('secret');
        expect(String(part.error.cause)).not.toContain('4242');
      });

      it('logs the labels that are known, and "other" in place of the rest', () => {
        const labels = { type: 'INVALID_REQUEST_ERROR', code: 'a piece of the prompt', status: 400 };
        const [part] = partsOf({ event: 'error', data: JSON.stringify({ error: labels }) });
        if (part?.type !== 'error') throw new Error('There is no error part.');
        expect(part.error.cause).toMatchObject({ message: 'invalid_request_error other 400' });
      });

      it('does not log what may be a piece of an answer', () => {
        const [part] = partsOf({ event: 'message', data: '{"text":"a private answer' });
        if (part?.type !== 'error') throw new Error('There is no error part.');
        expect(String(part.error.cause)).not.toContain('private');
      });
    });

    describe('asking', () => {
      it('posts JSON and asks for a stream of events', async () => {
        const request = await requestOf();
        expect(request.headers).toMatchObject({ 'content-type': 'application/json', accept });
        expect(JSON.parse(request.body as string)).toMatchObject(body);
      });

      it('keeps the path and the query of the base URL', async () => {
        const baseUrl = new URL('https://gateway.example.com/team%20a/llm/?api-version=2024-10-21&x=1#top');
        const { url } = await requestOf(HELLO, { ...ACME, baseUrl });
        expect(url.origin).toBe('https://gateway.example.com');
        expect(url.pathname).toMatch(/^\/team%20a\/llm\/[^/]/);
        expect(url.searchParams.get('api-version')).toBe('2024-10-21');
        expect(url.searchParams.get('x')).toBe('1');
        expect(url.hash).toBe('');
        expect(baseUrl.pathname, 'the configured URL stays as it is').toBe('/team%20a/llm/');
      });

      it('lets configured headers win, in whatever case they are written', async () => {
        const headers = { Accept: 'text/plain', 'X-Team': 'blue' };
        const request = await requestOf(HELLO, { ...ACME, headers });
        expect(request.headers).toMatchObject({ accept: 'text/plain', 'x-team': 'blue' });
        expect(Object.keys(request.headers)).not.toContain('Accept');
      });

      it('sends no credential where none is configured', async () => {
        const request = await requestOf(HELLO, { ...ACME, apiKey: undefined });
        expect(JSON.stringify(request.headers)).not.toMatch(/secret|undefined|bearer/i);
      });

      it('leaves out a temperature that is not to be sent', async () => {
        const call = { ...HELLO, temperature: undefined };
        expect((await requestOf(call)).body).not.toContain('temperature');
      });

      it('refuses an upstream without an address', async () => {
        await expect(requestOf(HELLO, { ...ACME, baseUrl: undefined })).rejects.toMatchObject({
          code: 'internal_error',
        });
      });
    });

    function checkParts(name: string, data: string): void {
      const parts = partsOf({ event: name, data });
      const ranks = parts.map(({ type }) => ORDER.indexOf(type));
      expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
      for (const part of parts) {
        if (part.type === 'text') expect(part.text).not.toBe('');
        if (part.type === 'usage') expect(Object.values(part.usage).filter((count) => count >= 0)).not.toHaveLength(0);
      }
      const types = parts.map(({ type }) => type);
      expect(types.includes('error') && types.includes('complete'), 'failed and complete').toBe(false);
    }
  });
}

/** JSON whose members and texts are mostly words of the protocol. */
function fromVocabulary(words: readonly string[]): fc.Arbitrary<string> {
  const word = fc.constantFrom(...words);
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      word,
      fc.constantFrom(null, 0, 1, -1, 1.5, 400, 429, '', true, [], {}),
      fc.dictionary(word, tie('value'), { maxKeys: 6 }),
      fc.array(tie('value'), { maxLength: 3 }),
    ),
  }));
  return fc.dictionary(word, value, { minKeys: 1, maxKeys: 6 }).map((object) => JSON.stringify(object));
}
