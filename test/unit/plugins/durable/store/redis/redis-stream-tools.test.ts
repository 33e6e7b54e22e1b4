import { expect, it, vi } from 'vitest';
import { WatchedClaim } from '../../../../../../src/plugins/durable/store/redis/redis-stream-tools.js';

it('a claim is over when it was seen expired for a second without a break, as Redis may have answered its owner late', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const claim = new WatchedClaim();
  expect(claim.isOver).toBe(false);
  for (const isExpired of [true, false, true]) {
    claim.see(isExpired);
    vi.advanceTimersByTime(999);
    expect(claim.isOver).toBe(false);
  }
  claim.see(true);
  vi.advanceTimersByTime(1);
  expect(claim.isOver).toBe(true);
});
