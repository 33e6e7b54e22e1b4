import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { EventLoopDelay } from '../../../../../src/plugins/metrics/families/process-families.js';
import { waitFor } from '../../../../support/wait-for.js';

/** Several measurements of the delay. */
const SEVERAL_MS = 100;
const BLOCKED_MS = 200;

describe('the delay of the event loop', () => {
  it('is summed up from one scrape to the next, with quantiles of the time between them', async () => {
    const delay = new EventLoopDelay();
    const first = await takenWithMore(delay, 0);
    await sleep(SEVERAL_MS);
    block(BLOCKED_MS);
    const second = await takenWithMore(delay, first.count);
    delay.stop();
    expect(second.quantiles.map(([quantile]) => quantile)).toEqual([0.5, 0.99, 1]);
    expect(second.quantiles.at(-1)?.[1]).toBeGreaterThan(BLOCKED_MS / 2_000);
    expect(second.sum - first.sum).toBeGreaterThan(BLOCKED_MS / 2_000);
  });
});

/** Takes the delays after a time for several measurements, again and again until there are more than `count` in all. */
function takenWithMore(delay: EventLoopDelay, count: number) {
  return waitFor(async () => {
    await sleep(SEVERAL_MS);
    const taken = delay.take();
    return taken.count > count && taken;
  }, 'a measurement of the delay');
}

function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
