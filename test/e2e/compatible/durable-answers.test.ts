import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Latch } from '../../support/latch.js';
import { callParts, COMPLETE, say, ScriptedModel, USAGE } from './scripted-model.js';
import type { StreamPart } from '../../../src/upstreams/contract/stream-part.js';

const TOOL_SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };
const FINISH: StreamPart = { type: 'finish', reason: 'stop', raw: 'stop' };

const SURFACES = [
  {
    path: 'chat/completions',
    body: {
      model: 'gpt-5',
      messages: [{ role: 'user', content: 'Hello' }],
      tools: [{ type: 'function', function: { name: 'weather', parameters: TOOL_SCHEMA } }],
    },
    streamOptions: { stream_options: { include_usage: true } },
  },
  {
    path: 'responses',
    body: {
      model: 'gpt-5',
      store: false,
      input: 'Hello',
      tools: [{ type: 'function', name: 'weather', parameters: TOOL_SCHEMA, strict: false }],
    },
  },
  {
    path: 'messages',
    body: {
      model: 'gpt-5',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello' }],
      tools: [{ name: 'weather', input_schema: TOOL_SCHEMA }],
    },
  },
];

describe.each(SURFACES)('a request to $path with an Idempotency-Key', ({ path, body, streamOptions = {} }) => {
  let model: ScriptedModel;
  let count = 0;

  beforeAll(async () => {
    model = await ScriptedModel.start({ requests_per_minute: 1_000 });
  });
  afterAll(() => model.stop());

  const ask = (key: string, changes: object = {}) =>
    fetch(`${model.baseUrl}/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${model.key}`, 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ ...body, ...changes }),
    });
  const newKey = () => `key-${path.replace('/', '-')}-${(count += 1)}`;
  const answersAll = () => {
    const call = callParts('call_1', 'weather', '{"city":"Oslo"}');
    model.answers(
      { type: 'reasoning', text: 'Hm' },
      { type: 'reasoning', text: '', signature: 's' },
      ...[say('Hello'), say(' there \u2028')],
      ...[...call, USAGE, FINISH, COMPLETE],
    );
  };

  it('gets the same answer again, streamed and whole, with tool calls, reasoning, usage and ids', async () => {
    answersAll();
    const calls = model.provider.calls.length;
    const firsts = [];
    for (const changes of [{ stream: true, ...streamOptions }, {}]) {
      const key = newKey();
      const first = await ask(key, changes);
      const text = await first.text();
      expect([first.status, first.headers.get('idempotency-replayed'), first.headers.get('x-stream-id')]).toEqual([
        ...[200, null, null],
      ]);
      expect(text).toContain('weather');
      firsts.push({ key, changes, text });
    }
    // Times are in seconds. They are those of the first answer, whenever it is repeated.
    await sleep(1_001);
    for (const { key, changes, text } of firsts) {
      const second = await ask(key, changes);
      expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
      expect(await second.text()).toBe(text);
    }
    expect(model.provider.calls.length - calls).toBe(2);
  });

  it('gets the same answer whole that it began to read as a stream, with the same id, and the other way round', async () => {
    for (const forms of [
      [{ stream: true, ...streamOptions }, {}],
      [{}, { stream: true }],
    ]) {
      answersAll();
      const calls = model.provider.calls.length;
      const key = newKey();
      const texts = [];
      for (const form of forms) {
        const answer = await ask(key, form);
        expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([
          200,
          texts.length ? 'true' : null,
        ]);
        texts.push(await answer.text());
      }
      const ids = texts.map((text) => /"id":"((?:chatcmpl|resp|msg)[-_]\w+)"/.exec(text)?.[1]);
      expect(ids[0]).toMatch(/\w/);
      expect(ids[1]).toBe(ids[0]);
      for (const text of texts) expect(text).toContain('call_1');
      expect(model.provider.calls.length - calls).toBe(1);
    }
  });

  it('with another body is a conflict', async () => {
    answersAll();
    const key = newKey();
    await (await ask(key)).text();
    const other = await ask(key, { temperature: 0.5 });
    expect(other.status).toBe(409);
    expect(other.headers.get('x-should-retry')).toBe('false');
  });

  it('gets the whole answer although the first client has left', async () => {
    const latch = new Latch();
    model.answers(say('Hello'), () => latch.opened, say(' there'), FINISH, COMPLETE);
    const key = newKey();
    const changes = { stream: true };
    const controller = new AbortController();
    const first = await fetch(`${model.baseUrl}/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${model.key}`, 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ ...body, ...changes }),
      signal: controller.signal,
    });
    await first.body?.getReader().read();
    controller.abort();
    latch.open();
    const text = await (await ask(key, changes)).text();
    expect(text).toContain('Hello');
    expect(text).toContain(' there');
  });

  it('keeps its key if it is invalid', async () => {
    const key = newKey();
    expect((await ask(key, { temperature: 99 })).status).toBe(400);
    answersAll();
    expect((await ask(key)).status).toBe(200);
  });
});
