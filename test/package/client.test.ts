import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as client from '../../src/client.js';
import { HELLO } from '../support/sse-client.js';
import { setStage, type Stage } from '../support/stage.js';

const { resolve } = createRequire(import.meta.url);
const ENTRY = resolve('chat-streaming-service/client');
const MAX_BYTES = 12_288;
const TEXTS = ['Zwölf Boxkämpfer ', 'jagen Viktor\n\n', 'data: über den ', '🦜', '\u2028 großen Deich'];

/** The file and all files that it imports. */
function filesOf(path: string, known = new Set<string>()): Set<string> {
  if (known.has(path)) return known;
  known.add(path);
  for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)) {
    expect(target, path).toMatch(/^\.\//);
    filesOf(join(dirname(path), target), known);
  }
  return known;
}

describe('chat-streaming-service/client', () => {
  it('has no dependency, and at most 12 KB with everything that it imports', () => {
    const bytes = [...filesOf(ENTRY)].reduce((sum, path) => sum + readFileSync(path).length, 0);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
  });

  it('runs where there is nothing but the standards of the web', () => {
    const code = [...filesOf(ENTRY)].map((path) => readFileSync(path, 'utf8')).join('');
    expect(code).not.toMatch(/\b(?:process|Buffer|require|window|document|setImmediate)\b/);
  });

  it('has types that need no other package, and that keep a cut answer apart', () => {
    const project = join(import.meta.dirname, 'client-types');
    const { stdout } = spawnSync(process.execPath, [resolve('typescript/bin/tsc'), '-p', project], {
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
  });

  describe('before the service', () => {
    let stage: Stage;
    let built: typeof client;
    let chat: client.ChatClient;

    beforeAll(async () => {
      stage = await setStage(1, { tiers: { free: { requests_per_minute: 100, max_tokens: 4096 } } });
      built = (await import(pathToFileURL(ENTRY).href)) as typeof client;
      chat = new built.ChatClient({ baseUrl: stage.origin, apiKey: stage.key });
    });
    afterAll(() => stage.clear());

    it('streams an answer', async () => {
      stage.provider.next((call) => {
        call.answer(...TEXTS);
      });
      const stream = chat.stream(HELLO);
      const texts: string[] = [];
      for await (const text of stream) texts.push(text);
      expect(texts.join('')).toBe(TEXTS.join(''));
      expect(stream.state).toEqual({ status: 'complete', text: TEXTS.join('') });
      expect(stream.requestId).toMatch(/^[\w-]{36}$/);
      expect(stream.rateLimits?.requests).toMatchObject({ limit: 100 });
    });

    it('never reports a cut answer as complete', async () => {
      stage.provider.next((call) => {
        call.head().text('Half of').failure('server_error').end();
      });
      const expected = { kind: 'failed', code: 'upstream_error', partialText: 'Half of' };
      await expect(chat.complete(HELLO)).rejects.toMatchObject(expected);
    });

    it('says what is wrong with a request', async () => {
      const error = await chat.complete({ ...HELLO, temperature: 3 }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(built.ChatError);
      expect(error).toMatchObject({
        kind: 'refused',
        status: 400,
        code: 'invalid_request',
        details: [{ field: 'temperature', message: 'must be at most 2' }],
        requestId: expect.any(String) as string,
        rateLimits: { requests: { limit: 100 } },
      });
      const strange = new built.ChatClient({ baseUrl: stage.origin, apiKey: 'csk_none' });
      await expect(strange.complete(HELLO)).rejects.toMatchObject({ status: 401, code: 'unauthenticated' });
    });

    it('ends the work of the provider when it is aborted', async () => {
      stage.provider.next((call) => {
        call.head().text('On and on');
      });
      const before = stage.provider.calls.length;
      const controller = new AbortController();
      const stream = chat.stream(HELLO, controller);
      const reading = (async () => {
        for await (const text of stream) if (text !== '') controller.abort();
      })();
      await expect(reading).rejects.toThrow('aborted');
      const call = await stage.provider.call(before + 1);
      await call.over;
      expect(call.abortedAt).toBeDefined();
      expect(stream.state).toEqual({ status: 'stopped', partialText: 'On and on' });
    });

    it('lists the models', async () => {
      expect(await chat.models()).toEqual([
        { id: HELLO.model, name: expect.any(String) as string, provider: 'Acme', context_length: 8192 },
      ]);
    });
  });
});
