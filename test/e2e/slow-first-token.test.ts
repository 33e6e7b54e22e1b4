import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routesTo } from '../support/catalog.js';
import { Gate } from '../support/gate.js';
import { ScriptedProvider, type Script } from '../support/scripted-provider.js';
import { startService, type RunningService } from '../support/service.js';
import { startStream, type PendingStream } from '../support/sse-client.js';
import { wireOf } from '../support/wire.js';

const HEADERS_AFTER_MS = 10_000;
const KEEP_ALIVE_AFTER_MS = 15_000;
/** On a busy machine, the client sees either end of an interval late. */
const SLACK_MS = 3_000;

/** In real time, and all at once, so that it takes half a minute and not two. */
describe.concurrent('a slow first token (slow test, half a minute)', { timeout: 60_000 }, () => {
  /** Each has a model of its own, with two providers. */
  const TESTS = 4;
  let providers: ScriptedProvider[];
  let service: RunningService;
  let key: string;

  beforeAll(async () => {
    providers = await Promise.all(Array.from({ length: 2 * TESTS }, () => ScriptedProvider.start()));
    const upstreams = providers.map(({ origin }, index): [string, object] => [
      `provider-${index}`,
      { protocol: 'openai', base_url: origin },
    ]);
    const models = Array.from({ length: TESTS }, (_, test) => ({
      ...routesTo([]).models[0],
      id: `test/${test}`,
      routes: [2 * test, 2 * test + 1].map((index) => ({ upstream: `provider-${index}`, model: 'slow' })),
    }));
    service = await startService({ upstreams: Object.fromEntries(upstreams), models });
    ({ key } = await service.createKey());
  });
  afterAll(async () => {
    await service.stop();
    await Promise.all(providers.map((provider) => provider.stop()));
  });

  /** Asks the model of the test, whose first provider does as the script says. */
  function ask(test: number, script: Script): PendingStream {
    providers[2 * test]?.answers(script);
    return startStream(service.origin, { key, body: { model: `test/${test}` } });
  }

  it('has the headers sent after ten seconds, and comments after fifteen silent ones, before and between texts', async () => {
    const [first, second] = [new Gate(), new Gate()];
    const startedAt = performance.now();
    const pending = ask(0, async (call) => {
      call.head();
      await first.opened;
      call.text('Hel');
      await second.opened;
      call.text('lo').finish().endMarker().end();
    });
    const answer = await pending.answer;
    expect(answer.status).toBe(200);
    expectAbout(answer.headersAt - startedAt, HEADERS_AFTER_MS);
    expect(answer.blocks).toEqual([]);

    const comment = await answer.block(1, KEEP_ALIVE_AFTER_MS + SLACK_MS);
    expect(comment.text).toBe(': keep-alive');
    expectAbout(comment.at - answer.headersAt, KEEP_ALIVE_AFTER_MS);
    first.open();
    const { at } = await answer.block(2);
    const later = await answer.block(3, KEEP_ALIVE_AFTER_MS + SLACK_MS);
    expect(later.text).toBe(': keep-alive');
    expectAbout(later.at - at, KEEP_ALIVE_AFTER_MS);
    second.open();

    expect(await wireOf(answer)).toMatchObject({ text: 'Hello', terminal: 'done', keepAlives: 2 });
  });

  it('has no headers sent while the provider has not taken the request', async () => {
    const accept = new Gate();
    const pending = ask(1, async (call) => {
      await accept.opened;
      call.refuse(400);
    });
    const sent = pending.answer.then(() => 'headers');
    expect(await Promise.race([sent, wait(HEADERS_AFTER_MS + SLACK_MS, 'nothing')])).toBe('nothing');
    accept.open();
    expect((await pending.answer).status).toBe(400);
  });

  it('has its failure told in the stream once the headers are out', async () => {
    const fail = new Gate();
    const pending = ask(2, async (call) => {
      call.head();
      await fail.opened;
      call.failure('invalid_request_error').end();
    });
    const answer = await pending.answer;
    fail.open();
    expect(await wireOf(answer)).toMatchObject({ texts: [], terminal: 'upstream_rejected' });
  });

  it('is still got from the next provider after the headers are out', async () => {
    const fail = new Gate();
    const pending = ask(3, async (call) => {
      call.head();
      await fail.opened;
      await call.cut();
    });
    providers.at(-1)?.answers((call) => {
      call.answer('Here');
    });
    const answer = await pending.answer;
    fail.open();
    expect(await wireOf(answer)).toMatchObject({ text: 'Here', terminal: 'done' });
  });
});

function expectAbout(actualMs: number, expectedMs: number): void {
  expect(actualMs).toBeGreaterThan(expectedMs - SLACK_MS);
  expect(actualMs).toBeLessThan(expectedMs + SLACK_MS);
}
