import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MODEL, routesTo } from '../../support/catalog.js';
import { Latch } from '../../support/latch.js';
import { rawRequest } from '../../support/raw-request.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { answering } from '../../support/scripts.js';
import { startService, type RunningService } from '../../support/service.js';
import { openStream, stream } from '../../support/sse-client.js';
import { readWire, wireOf } from '../../support/wire.js';

describe('the wire of a stream', () => {
  let provider: ScriptedProvider;
  let service: RunningService;
  let key: string;

  beforeAll(async () => {
    provider = await ScriptedProvider.start();
    service = await startService(routesTo([provider]));
    ({ key } = await service.createKey());
  });
  beforeEach(() => {
    provider.answers(answering('Hello'));
  });
  afterAll(async () => {
    await service.stop();
    await provider.stop();
  });

  it('is the chunks as data lines, the last of them done, and not a byte more', async () => {
    const latch = new Latch();
    provider.next(async (call) => {
      call.head().text('Hel');
      await latch.opened;
      call.text('lo').finish().endMarker().end();
    });

    const answer = await openStream(service.origin, { key });
    await answer.block(1);
    latch.open();

    expect(await answer.body()).toBe(
      'data: {"content":"Hel","done":false}\n\ndata: {"content":"lo","done":false}\n\ndata: {"content":"","done":true}\n\n',
    );
    expect(await answer.over).toBe('ended');
  });

  it('has the headers of an event stream that is neither cached nor buffered', async () => {
    const { status, headers } = await stream(service.origin, { key });

    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(headers['cache-control']).toContain('no-store');
    expect(headers['cache-control']).toContain('no-transform');
    expect(headers['x-accel-buffering']).toBe('no');
    expect(headers['x-powered-by']).toBeUndefined();
  });

  it('has a request id: the one that was sent, or a new one for what is not well-formed', async () => {
    const idFor = async (headers: Record<string, string>) =>
      (await stream(service.origin, { key, headers })).headers['x-request-id'];

    expect(await idFor({ 'x-request-id': 'order-66.a:b_c' })).toBe('order-66.a:b_c');
    const given = await idFor({});
    expect(given).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idFor({})).not.toBe(given);
    expect(await idFor({ 'x-request-id': 'two words' })).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idFor({ 'x-request-id': 'x'.repeat(129) })).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('joins what arrived together, in order', async () => {
    const texts = Array.from({ length: 200 }, (_, index) => `${index}, `);
    provider.next((call) => {
      call.head().write(texts.map((text) => provider.dialect.text(text)).join(''));
      call.finish().endMarker().end();
    });

    const { text, texts: pieces } = await wireOf(await openStream(service.origin, { key }));

    expect(text).toBe(texts.join(''));
    expect(pieces.length).toBeLessThan(texts.length / 2);
  });

  it('brings every character as it is, wherever the bytes of the provider were split', async () => {
    const text = 'ä€🦜\u0000\u0085\u2028\u2029\r\n\n data: {"done":true}\n\nevent: error "\\" 👩‍👩‍👧‍👦 \u{10FFFF}é';
    provider.next(async (call) => {
      const bytes = Buffer.from(provider.dialect.text(text));
      call.head();
      for (const byte of bytes) {
        call.write(Uint8Array.of(byte));
        await new Promise(setImmediate);
      }
      call.finish().endMarker().end();
    });

    expect(await wireOf(await openStream(service.origin, { key }))).toMatchObject({ text, terminal: 'done', rest: '' });
  });

  it('does not split a code point that the provider splits between two events', async () => {
    const latch = new Latch();
    provider.next(async (call) => {
      // Halves of U+1F99C, each as the escape of a lone surrogate.
      call.head().write('data: {"choices":[{"index":0,"delta":{"content":"a parrot: \\ud83e"}}]}\n\n');
      await latch.opened;
      call.write('data: {"choices":[{"index":0,"delta":{"content":"\\udd9c!"}}]}\n\n').finish().endMarker().end();
    });

    const answer = await openStream(service.origin, { key });
    await answer.block(1);
    latch.open();

    expect(await wireOf(answer)).toMatchObject({ text: 'a parrot: 🦜!', terminal: 'done' });
  });

  it('is an error for an answer without any text', async () => {
    provider.next((call) => {
      call.head().text('').finish().endMarker().end();
    });

    const answer = await stream(service.origin, { key });

    expect(answer.status).toBe(502);
    expect((await answer.error()).code).toBe('upstream_error');
  });

  it('holds the answer only, not what the model thought', async () => {
    provider.next((call) => {
      call.head().reasoning('They greet me.').text('Hi').reasoning('Now what?').text('!').finish().endMarker().end();
    });

    expect(readWire((await stream(service.origin, { key })).raw)).toMatchObject({ text: 'Hi!', terminal: 'done' });
  });

  it('ends once, at the end marker of the provider, whatever comes after it', async () => {
    provider.next((call) => {
      call.head().text('Hi').finish().endMarker().text('more').failure('server_error').endMarker().end();
    });

    expect(await wireOf(await openStream(service.origin, { key }))).toMatchObject({ text: 'Hi', terminal: 'done' });
  });

  it('ends the connection on the request of the client', async () => {
    const body = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }] });
    const answer = await rawRequest(
      service.origin,
      `POST /api/v1/chat/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );

    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(answer).toMatch(/^connection: close\r$/im);
    expect(answer).toContain('data: {"content":"","done":true}');
  });

  it('does not wait for the provider to end the body after its end marker', async () => {
    const latch = new Latch();
    provider.next(async (call) => {
      call.head().text('Hi').finish().endMarker();
      await latch.opened;
      call.end();
    });

    const answer = await stream(service.origin, { key });
    latch.open();

    expect(readWire(answer.raw)).toMatchObject({ text: 'Hi', terminal: 'done' });
  });
});
