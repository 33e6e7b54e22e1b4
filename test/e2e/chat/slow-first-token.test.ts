import { describe, expect, it } from 'vitest';
import { Latch } from '../../support/latch.js';
import { inMovedTime, type MovedTime } from '../../support/moved-time.js';
import { answering } from '../../support/scripts.js';
import { startStream, type PendingStream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { wireOf } from '../../support/wire.js';

const HEADERS_AFTER_MS = 10_000;
const HEADERS_IN_ANY_CASE_AFTER_MS = 30_000;
const KEEP_ALIVE_AFTER_MS = 15_000;
/** The clock moves in steps, and by itself while the test works. */
const SLACK_MS = 2_000;

/** A clock that the test moves, and a model with two providers. */
interface SlowStage extends Stage, MovedTime {
  /** Returns the stream once the first provider has its request. */
  send(): Promise<PendingStream>;
}

describe('a slow first token', () => {
  it('has the headers sent after ten seconds, and comments after fifteen silent ones, before and between texts', () =>
    onStage(async ({ provider, send, moveUntil }) => {
      const [hel, lo] = [new Latch(), new Latch()];
      provider.answers(async (call) => {
        call.head();
        await hel.opened;
        call.text('Hel');
        await lo.opened;
        call.text('lo').finish().endMarker().end();
      });
      const pending = await send();
      expectAbout(await moveUntil(pending.answer, 20_000), HEADERS_AFTER_MS);
      const answer = await pending.answer;
      expect(answer.status).toBe(200);
      expect(answer.blocks).toEqual([]);

      expectAbout(await moveUntil(answer.block(1), 20_000), KEEP_ALIVE_AFTER_MS);
      expect((await answer.block(1)).text).toBe(': keep-alive');
      hel.open();
      await answer.block(2);
      expectAbout(await moveUntil(answer.block(3), 20_000), KEEP_ALIVE_AFTER_MS);
      expect((await answer.block(3)).text).toBe(': keep-alive');
      lo.open();

      expect(await wireOf(answer)).toMatchObject({ text: 'Hello', terminal: 'done', keepAlives: 2 });
    }));

  it('has no headers sent before thirty seconds while the provider has not accepted the request', () =>
    onStage(async ({ provider, send, moveUntil }) => {
      const accept = new Latch();
      provider.answers(async (call) => {
        await accept.opened;
        call.answer('Late');
      });
      const pending = await send();
      expectAbout(await moveUntil(pending.answer, 40_000), HEADERS_IN_ANY_CASE_AFTER_MS);
      accept.open();
      expect(await wireOf(await pending.answer)).toMatchObject({ text: 'Late', terminal: 'done' });
    }));

  it('is a plain error while the headers are not out, however late the provider refuses', () =>
    onStage(async ({ provider, send, move }) => {
      const refuse = new Latch();
      provider.answers(async (call) => {
        await refuse.opened;
        call.refuse(400);
      });
      const pending = await send();
      await move(HEADERS_IN_ANY_CASE_AFTER_MS - SLACK_MS);
      refuse.open();
      expect((await pending.answer).status).toBe(400);
      expect((await (await pending.answer).error()).code).toBe('upstream_rejected');
    }));

  it('reports its failure in the stream once the headers are sent', () =>
    onStage(async ({ provider, send, moveUntil }) => {
      const fail = new Latch();
      provider.answers(async (call) => {
        call.head();
        await fail.opened;
        call.failure('invalid_request_error').end();
      });
      const pending = await send();
      await moveUntil(pending.answer, 20_000);
      fail.open();
      expect(await wireOf(await pending.answer)).toMatchObject({ texts: [], terminal: 'upstream_rejected' });
    }));

  it('is still got from the next provider after the headers are out', () =>
    onStage(async ({ provider, providers, send, moveUntil }) => {
      const fail = new Latch();
      provider.answers(async (call) => {
        call.head();
        await fail.opened;
        await call.cut();
      });
      providers[1]?.answers(answering('Here'));
      const pending = await send();
      await moveUntil(pending.answer, 20_000);
      fail.open();
      expect(await wireOf(await pending.answer)).toMatchObject({ text: 'Here', terminal: 'done' });
    }));
});

function onStage(use: (stage: SlowStage) => Promise<void>): Promise<void> {
  return inMovedTime(async (time) => {
    const stage = await setStage(2);
    try {
      await use({ ...stage, ...time, send: () => send(stage) });
    } finally {
      await stage.clear();
    }
  });
}

async function send({ origin, key, provider }: Stage): Promise<PendingStream> {
  const pending = startStream(origin, { key });
  await provider.call(1);
  return pending;
}

function expectAbout(actualMs: number, expectedMs: number): void {
  expect(actualMs).toBeGreaterThan(expectedMs - SLACK_MS);
  expect(actualMs).toBeLessThan(expectedMs + SLACK_MS);
}
