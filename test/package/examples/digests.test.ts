import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DigestsPlugin } from '../../../examples/src/digests.plugin.js';
import { configFor, createTestService, ScriptedProvider, TEST_MODEL, type TestService } from '../../../src/testing.js';
import { Latch } from '../../support/latch.js';
import { startStream, stream } from '../../support/sse-client.js';

const path = '/api/v1/digests';
const body = JSON.stringify({ texts: ['One.', 'Two.'] });

const eventsOf = (raw: string): unknown[] =>
  [...raw.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as unknown);

describe('an answer of several completions', () => {
  let provider: ScriptedProvider;
  let service: TestService;
  let key: string;
  let created: Awaited<ReturnType<TestService['createKey']>>;
  let held: Latch;

  beforeEach(async () => {
    held = new Latch();
    provider = await ScriptedProvider.start();
    service = await createTestService({
      plugins: [DigestsPlugin],
      config: {
        ...configFor(provider),
        tiers: { free: { tokens_per_day: 100_000 } },
        plugins: { digests: { model: TEST_MODEL } },
      },
      env: { SHUTDOWN_GRACE_SECONDS: '1' },
    });
    created = await service.createKey();
    ({ key } = created);
    provider.answers((call) => {
      call.answer('A note.');
    });
  });
  afterEach(async () => {
    held.open();
    await service.stop();
    await provider.stop();
  });

  const ask = () => stream(service.origin, { path, key, body });

  it('is one stream, and the limits count the tokens of all its completions', async () => {
    const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 5 } });
    provider.answers((call) => {
      call.head().text('A note.').finish().write(`data: ${usage}\n\n`).endMarker().end();
    });
    const answer = await ask();
    expect([answer.status, eventsOf(answer.raw)]).toEqual([200, [{ text: 'A note.' }, { done: true }]]);
    expect(provider.calls).toHaveLength(3);
    await expect
      .poll(async () => {
        const refused = await stream(service.origin, { key, body: { model: TEST_MODEL, max_tokens: 200_000 } });
        return refused.headers['x-ratelimit-remaining-tokens'];
      })
      .toBe(String(100_000 - 3 * (7 + 5)));
  });

  it('is refused with the status of the step that fails before any text, and ends with an error after it', async () => {
    provider.next((call) => {
      call.refuse(400);
    });
    expect((await ask()).status).toBeGreaterThanOrEqual(400);

    for (const last of [false, false, true]) {
      provider.next((call) => {
        if (!last) call.answer('A note.');
        else call.head().text('Dig').end();
      });
    }
    const { status, raw } = await ask();
    expect(status).toBe(200);
    expect(eventsOf(raw)).toEqual([{ text: 'Dig' }, expect.objectContaining({ code: 'upstream_error' })]);
    expect(raw).not.toContain('"done"');
  });

  it('stops all completions when its client leaves', async () => {
    provider.answers(() => undefined);
    const { leave } = startStream(service.origin, { path, key, body });
    await provider.call(2);
    leave();
    await Promise.all(provider.calls.map(({ over }) => over));
    expect(provider.calls).toHaveLength(2);
  });
});
