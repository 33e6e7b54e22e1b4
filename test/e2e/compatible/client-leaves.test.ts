import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DurableStreams } from '../../../src/plugins/durable/durable-streams.js';
import { waitFor } from '../../support/wait-for.js';
import { say, ScriptedModel } from './scripted-model.js';

const MESSAGES = [{ role: 'user', content: 'Hello' }];

const SURFACES: readonly (readonly [path: string, body: object])[] = [
  ['chat/completions', { model: 'fast', messages: MESSAGES }],
  ['responses', { model: 'fast', input: 'Hello', store: false }],
  ['messages', { model: 'fast', max_tokens: 100, messages: MESSAGES }],
];
const NEVER = new Promise<never>(() => undefined);

describe('a client that leaves a compatible surface', () => {
  let model: ScriptedModel;
  let keys = 0;
  const errors = vi.spyOn(Logger.prototype, 'error');
  const warnings = vi.spyOn(Logger.prototype, 'warn');
  const lines = vi.spyOn(Logger.prototype, 'log');
  const waiting = vi.spyOn(DurableStreams.prototype, 'enter');

  beforeAll(async () => {
    model = await ScriptedModel.start({}, { STREAM_DETACHED_SECONDS: '1' });
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await model.stop();
  });
  beforeEach(() => {
    vi.clearAllMocks();
  });

  const nextKey = (): Readonly<Record<string, string>> => ({ 'idempotency-key': `leaving-${(keys += 1)}` });

  function ask(path: string, body: object, headers: Readonly<Record<string, string>> = {}): () => void {
    const gone = new AbortController();
    void fetch(`${model.baseUrl}/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${model.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: gone.signal,
    }).catch(() => undefined);
    return () => {
      gone.abort();
    };
  }

  /** Waits for the lines of the requests, and expects that they say that the client has left, and that nothing else was written. */
  async function expectOrdinaryEnds(path: string, count: number): Promise<void> {
    const written = () =>
      lines.mock.calls
        .map(([entry]) => entry as object)
        .filter((entry) => JSON.stringify(entry).includes(`/v1/${path}`));
    await waitFor(() => written().length >= count || undefined, 'the lines of the requests');
    await model.service.leftovers.none();
    expect([errors.mock.calls, warnings.mock.calls]).toEqual([[], []]);
    for (const entry of written()) expect(entry).toMatchObject({ clientLeft: true, errorCode: undefined });
  }

  const called = async (number: number) =>
    waitFor(() => model.provider.calls.length >= number || undefined, 'the call');

  it.each(SURFACES)('%s, whole, before the answer is complete: writes no error', async (path, body) => {
    model.answers(say('Hel'), () => NEVER);
    const before = model.provider.calls.length;
    const leave = ask(path, body);
    await called(before + 1);
    leave();
    await expectOrdinaryEnds(path, 1);
  });

  it.each(SURFACES)('%s, whole or streamed, before the first text: writes no error', async (path, body) => {
    model.answers(() => NEVER);
    const before = model.provider.calls.length;
    const leaving = [ask(path, body), ask(path, { ...body, stream: true })];
    await called(before + 2);
    for (const leave of leaving) leave();
    await expectOrdinaryEnds(path, 2);
  });

  it.each(SURFACES)('%s, with an Idempotency-Key, before the first text: writes no error', async (path, body) => {
    model.answers(() => NEVER);
    const before = model.provider.calls.length;
    const [whole, streamed] = [nextKey(), nextKey()];
    const leaving = [ask(path, body, whole), ask(path, { ...body, stream: true }, streamed)];
    await called(before + 2);
    // Requests that repeat them wait for the same answers, and leave, too.
    leaving.push(ask(path, body, whole), ask(path, { ...body, stream: true }, streamed));
    await waitFor(() => waiting.mock.calls.length >= 2 || undefined, 'the requests that wait');
    for (const leave of leaving) leave();
    await expectOrdinaryEnds(path, 4);
  });

  it('chat/stream, with and without an Idempotency-Key, before the first text: writes no error', async () => {
    model.answers(() => NEVER);
    const before = model.provider.calls.length;
    const body = { model: 'acme/fast', messages: MESSAGES };
    const leaving = [ask('chat/stream', body), ask('chat/stream', body, nextKey())];
    await called(before + 2);
    for (const leave of leaving) leave();
    await expectOrdinaryEnds('chat/stream', 2);
  });
});
