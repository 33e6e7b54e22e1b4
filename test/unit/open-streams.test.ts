import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RevocationWatch } from '../../src/accounts/api-keys/revocation-watch.js';
import type { SessionWatch } from '../../src/accounts/sessions/session-watch.js';
import type { Principal } from '../../src/auth/principal/principal.js';
import { OpenStreams } from '../../src/chat/stream/open-streams.js';
import { DrainState } from '../../src/common/drain-state.js';
import { ShedLoad } from '../../src/common/shed-load.js';
import type { Config } from '../../src/config/config.js';

const PRINCIPAL = { accountId: 'ada', credential: { kind: 'external', id: 'x' } } as Principal;
const GRACE_MS = 60_000;
const FAREWELL_MS = 2_000;

describe('the streams of a process that stops', () => {
  let streams: OpenStreams;
  let isDrained: boolean;

  beforeEach(() => {
    vi.useFakeTimers();
    const watch = {} as RevocationWatch & SessionWatch;
    streams = new OpenStreams(watch, watch, new DrainState(), new ShedLoad(), { maxStreams: 9 } as Config);
    isDrained = false;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const drain = () =>
    streams.drain(GRACE_MS, FAREWELL_MS).then(() => {
      isDrained = true;
    });

  it('are waited for until the last of them is over, and no longer', async () => {
    const over = [vi.fn(), vi.fn()].map((end) => streams.add(PRINCIPAL, end));
    const drained = drain();
    over[0]?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(isDrained).toBe(false);

    over[1]?.();
    await drained;

    expect(vi.getTimerCount()).toBe(0);
  });

  it('are told to end when the grace is over, and waited for a little longer', async () => {
    const end = vi.fn();
    const over = streams.add(PRINCIPAL, end);
    const drained = drain();
    await vi.advanceTimersByTimeAsync(GRACE_MS - 1);
    expect(end).not.toHaveBeenCalled();

    await vi.advanceTimersByTimeAsync(1);

    expect(end).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'shutting_down' }));
    expect(isDrained).toBe(false);
    over();
    await drained;
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that do not end are left when the farewell is over', async () => {
    streams.add(PRINCIPAL, vi.fn());
    const drained = drain();

    await vi.advanceTimersByTimeAsync(GRACE_MS + FAREWELL_MS);

    await drained;
    expect(vi.getTimerCount()).toBe(0);
  });
});
