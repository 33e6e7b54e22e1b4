import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Script } from '../../../src/testing/provider/scripted-provider.js';
import { openStream, startStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { wireOf } from '../../support/wire.js';

const FAILURES_TO_OPEN = 5;
/** After this time a provider that failed is asked again. */
const LONG_MS = 60_000;

describe('a provider that was passed over', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await setStage(2, { timeouts: { first_token_ms: LONG_MS } });
    stage.provider.answers(refuse);
    for (let index = 0; index < FAILURES_TO_OPEN; index++) await stream(stage.origin, { key: stage.key });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await stage.clear();
  });

  const refuse: Script = (call) => {
    call.refuse(500);
  };

  async function expectItAnswers(): Promise<void> {
    stage.provider.answers((call) => {
      call.answer('I am back');
    });
    const answer = await wireOf(await openStream(stage.origin, { key: stage.key }));
    expect(answer).toMatchObject({ text: 'I am back', terminal: 'done' });
  }

  it('is tried again after a while, and again when it has failed then', async () => {
    moveClock(LONG_MS);
    await stream(stage.origin, { key: stage.key });
    await stream(stage.origin, { key: stage.key });
    expect(stage.provider.calls).toHaveLength(FAILURES_TO_OPEN + 1);

    moveClock(2 * LONG_MS);

    await expectItAnswers();
  });

  it('is tried again by the next request where a client leaves before the response of the provider', async () => {
    moveClock(LONG_MS);
    stage.provider.next(() => undefined);
    const probe = startStream(stage.origin, { key: stage.key });
    const call = await stage.provider.call(FAILURES_TO_OPEN + 1);

    probe.leave();
    await call.over;

    await expectItAnswers();
  });
});

/** By the clock that nobody sets. */
function moveClock(byMs: number): void {
  vi.restoreAllMocks();
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + byMs);
}
