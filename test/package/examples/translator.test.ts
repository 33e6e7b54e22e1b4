import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { Latch } from '../../support/latch.js';
import { inMovedTime } from '../../support/moved-time.js';
import { openStream, startStream, stream } from '../../support/sse-client.js';
import { muchText, sendMuch } from '../../support/unread.js';
import { standsStill } from '../../support/wait-for.js';
import { setStage, type Stage } from '../../support/stage.js';
import { TranslatorPlugin } from '../../../examples/src/translator.plugin.js';
import { MODEL } from '../../support/catalog.js';

const MIB = 1024 * 1024;
const path = '/api/v1/translations';
const body = JSON.stringify({ text: 'Good morning', language: 'French' });

const OPTIONS = {
  plugins: [TranslatorPlugin],
  pluginConfigs: { translator: { model: MODEL } },
  tiers: { free: { requests_per_minute: 1_000 } },
};

const linesOf = (raw: string): unknown[] =>
  raw
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);

describe('a stream of a plugin', () => {
  let stage: Stage;
  let key: string;

  beforeAll(async () => {
    stage = await setStage(1, OPTIONS);
    ({ key } = stage);
  });
  afterAll(() => stage.clear());

  it('has one line for each text, a last line, and the headers of a stream', async () => {
    stage.provider.next((call) => {
      call.head().text('Bon').text('jour').finish().endMarker().end();
    });
    const answer = await stream(stage.origin, { path, key, body });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'x-accel-buffering': 'no',
      'x-ratelimit-limit': '1000',
    });
    expect(answer.headers['cache-control']).toContain('no-store');
    const lines = linesOf(answer.raw) as { text?: string; done?: boolean }[];
    expect(lines.map(({ text }) => text).join('')).toBe('Bonjour');
    expect(lines.at(-1)).toEqual({ done: true });
    expect(await answer.over).toBe('ended');
  });

  it('answers a failure before the first text with its status', async () => {
    stage.provider.next((call) => {
      call.refuse(500);
    });
    const refused = await stream(stage.origin, { path, key, body });
    expect(refused.status).toBe(502);
    expect(await refused.error()).toMatchObject({ code: 'upstream_error' });
  });

  it('reports a failure after the first text in its own format, without a last line', async () => {
    const received = new Latch();
    stage.provider.next(async (call) => {
      call.head().text('Bon');
      await received.opened;
      await call.cut();
    });
    const broken = await openStream(stage.origin, { path, key, body });
    received.open();
    const lines = linesOf(await broken.body());
    expect(lines).toContainEqual({ text: 'Bon' });
    expect(lines.at(-1)).toMatchObject({ error: { code: 'upstream_error' } });
    expect(lines).not.toContainEqual({ done: true });
  });

  it('stops the provider when its client leaves', async () => {
    const before = stage.provider.calls.length;
    stage.provider.next((call) => {
      call.head().text('Bon');
    });
    const answer = await openStream(stage.origin, { path, key, body });
    answer.leave();
    const call = await stage.provider.call(before + 1);
    await call.over;
    expect(call.abortedAt).toBeDefined();
  });

  it('ends with an error when its key is revoked', async () => {
    const own = await stage.service.createKey();
    stage.provider.next((call) => {
      call.head().text('Bon');
    });
    const answer = await openStream(stage.origin, { path, key: own.key, body });
    await stage.service.app.get(ApiKeysService, { strict: false }).revoke(own.id);
    expect(linesOf(await answer.body()).at(-1)).toMatchObject({ error: { code: 'key_revoked' } });
  });

  it('holds the provider back while its client does not read', async () => {
    const before = stage.provider.calls.length;
    stage.provider.next((call) => sendMuch(call, 5_000));
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(stage.origin + path, { method: 'POST', headers, body });
    const call = await stage.provider.call(before + 1);
    expect(await standsStill(() => call.bytesWritten, 300)).toBeLessThan(20 * MIB);
    const lines = linesOf(await answer.text()) as { text?: string; done?: boolean }[];
    expect(lines.map(({ text = '' }) => text).join('') === muchText(5_000)).toBe(true);
    expect(lines.at(-1)).toEqual({ done: true });
  });
});

describe('a slow stream of a plugin', () => {
  it('has its headers after ten seconds, and a keep-alive after fifteen silent ones', () =>
    inMovedTime(async ({ moveUntil }) => {
      const stage = await setStage(1, OPTIONS);
      try {
        const first = new Latch();
        stage.provider.next(async (call) => {
          call.head();
          await first.opened;
          call.text('Bonjour').finish().endMarker().end();
        });
        const { key } = stage;
        const pending = startStream(stage.origin, { path, key, body });
        await stage.provider.call(1);
        expect(await moveUntil(pending.answer, 20_000)).toBeGreaterThan(8_000);
        const answer = await pending.answer;
        expect(answer.raw).toBe('');
        const beat = new Promise<void>((resolve) => {
          const look = (): void => {
            if (answer.raw === '\n') resolve();
            else setImmediate(look);
          };
          look();
        });
        expect(await moveUntil(beat, 20_000)).toBeGreaterThan(13_000);
        first.open();
        expect(linesOf(await answer.body())).toEqual([{ text: 'Bonjour' }, { done: true }]);
      } finally {
        await stage.clear();
      }
    }));
});
