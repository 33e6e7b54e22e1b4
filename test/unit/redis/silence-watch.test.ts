import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SilenceWatch } from '../../../src/redis/silence-watch.js';
import { stopTime, turn } from '../../support/moved-time.js';

/** No command waits longer than this until the silence is noticed. */
const NOTICED_WITHIN_MS = 600;
const NEVER_NOTICED_BEFORE_MS = 500;

let silences: number;
let watch: SilenceWatch;

beforeEach(() => {
  stopTime();
  silences = 0;
  watch = new SilenceWatch(() => (silences += 1));
  watch.start();
});
afterEach(() => {
  watch.stop();
  vi.useRealTimers();
});

it('a server that answers nothing for half a second is silent', async () => {
  watch.asked();
  await turn(NEVER_NOTICED_BEFORE_MS);
  expect(silences).toBe(0);
  await turn(NOTICED_WITHIN_MS - NEVER_NOTICED_BEFORE_MS);
  expect(silences).toBe(1);
});

it('a server that answers some commands is not silent, however long others wait', async () => {
  watch.asked();
  for (let answers = 0; answers < 5; answers++) {
    watch.asked();
    await turn(NEVER_NOTICED_BEFORE_MS);
    watch.settled(true);
  }
  expect(silences).toBe(0);
});

it('a command that fails without an answer is no sign of life', async () => {
  watch.asked();
  for (let failures = 0; failures < 5; failures++) {
    watch.asked();
    await turn(NOTICED_WITHIN_MS / 5);
    watch.settled(false);
  }
  expect(silences).toBe(1);
});

it('a server that is asked nothing is not silent', async () => {
  watch.asked();
  watch.settled(true);
  await turn(10 * NOTICED_WITHIN_MS);
  expect(silences).toBe(0);
});
