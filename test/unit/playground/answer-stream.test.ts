import { describe, expect, it } from 'vitest';
import { streamAnswer } from '../../../src/dashboard/static/playground/answer/answer-stream.js';

const REQUEST = { model: 'acme/fast', messages: [{ role: 'user' as const, content: 'Hello!' }] };
const SSE = { 'content-type': 'text/event-stream', 'x-request-id': 'r1' };
const chunk = (content: string, done = false) => `data: ${JSON.stringify({ content, done })}\n\n`;

async function read(answer: Response | Error, signal = new AbortController().signal): Promise<string[]> {
  const texts: string[] = [];
  const send = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer));
  for await (const text of streamAnswer(REQUEST, signal, send)) texts.push(text);
  return texts;
}

const streamOf = (...blocks: string[]) => new Response(blocks.join(''), { headers: SSE });

describe('an answer as the playground reads it', () => {
  it('is the text up to the chunk that is done', async () => {
    expect(await read(streamOf(chunk('He'), ': keep-alive\n\n', chunk('llo'), chunk('', true), chunk('!')))).toEqual([
      'He',
      'llo',
    ]);
  });

  it('keeps a character whole whose bytes come apart', async () => {
    const bytes = new TextEncoder().encode(chunk('🦜') + chunk('', true));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect(await read(new Response(body, { headers: SSE }))).toEqual(['🦜']);
  });

  it('asks by the public endpoint, with the very request', async () => {
    let asked: Parameters<typeof fetch> | undefined;
    const send: typeof fetch = (...call) => {
      asked = call;
      return Promise.resolve(streamOf(chunk('', true)));
    };
    for await (const text of streamAnswer(REQUEST, new AbortController().signal, send)) expect(text).toBe('');
    expect(asked?.[0]).toBe('/api/v1/chat/stream');
    expect(asked?.[1]).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } });
    expect(asked?.[1]?.body).toBe(JSON.stringify(REQUEST));
  });

  it.each([
    ['ends without being done', streamOf(chunk('Hel')), 'ended before'],
    [
      'says that it failed',
      streamOf(
        chunk('Hel'),
        'event: error\ndata: {"content":"","done":false,"error":{"code":"upstream_error","message":"The provider broke off."}}\n\n',
      ),
      'The provider broke off.',
    ],
    ['is nonsense', streamOf(chunk('Hel'), 'data: nonsense\n\n'), 'invalid part of an answer'],
    ['says done by another type', streamOf('data: {"content":"","done":"true"}\n\n'), 'invalid part of an answer'],
    [
      'is a page of something in between',
      new Response('<html>', { headers: { 'content-type': 'text/html' } }),
      'did not come from the service',
    ],
  ])('is broken when it %s', async (_, answer, message) => {
    await expect(read(answer)).rejects.toMatchObject({
      kind: 'broken',
      message: expect.stringContaining(message) as string,
    });
  });

  it('is broken when the connection breaks', async () => {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new TypeError('network error'));
      },
    });
    await expect(read(new Response(body, { headers: SSE }))).rejects.toMatchObject({ kind: 'broken' });
  });

  it('is refused with what the service says', async () => {
    const error = {
      code: 'rate_limit_exceeded',
      message: 'The tier allows 20 requests per minute.',
      request_id: 'r1',
      details: [{ field: 'max_tokens', message: 'must be an integer' }],
    };
    const answer = Response.json({ error }, { status: 429, headers: { 'retry-after': '42', 'x-request-id': 'r1' } });
    await expect(read(answer)).rejects.toMatchObject({
      kind: 'refused',
      message: error.message,
      facts: { status: 429, code: error.code, retryAfterSeconds: 42, requestId: 'r1', details: error.details },
    });
  });

  it('is refused, too, by what is not the service', async () => {
    const answer = new Response('Bad Gateway', { status: 502 });
    await expect(read(answer)).rejects.toMatchObject({ kind: 'refused', facts: { status: 502, details: [] } });
  });

  it('cannot be had without a connection', async () => {
    await expect(read(new TypeError('Failed to fetch'))).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('that is aborted ends with the reason of the abort, which is no failure', async () => {
    const controller = new AbortController();
    controller.abort();
    const aborted = new DOMException('aborted', 'AbortError');
    await expect(read(aborted, controller.signal)).rejects.toBe(aborted);
  });
});
