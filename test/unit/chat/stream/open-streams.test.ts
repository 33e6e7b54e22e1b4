import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CredentialWatch } from '../../../../src/accounts/ended/credential-watch.js';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import { OpenStreams, type EndStream } from '../../../../src/chat/stream/open-streams.js';
import { DrainState } from '../../../../src/platform/common/drain-state.js';
import { ShedLoad } from '../../../../src/platform/common/shed-load.js';
import type { Config } from '../../../../src/platform/config/config.js';

/** The clock of the database is ahead of the process. */
const now = (): number => Date.now() + 90_000;

describe('an open stream with a credential of a plugin', () => {
  let streams: OpenStreams;
  let end: ReturnType<typeof vi.fn<EndStream>>;

  beforeEach(() => {
    vi.useFakeTimers();
    end = vi.fn<EndStream>();
    const credentials = { watch: () => () => undefined } as unknown as CredentialWatch;
    streams = new OpenStreams(credentials, new DrainState(), new ShedLoad(), { maxStreams: 2 } as Config, now);
  });
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
  });

  const external = (more: object) =>
    ({ accountId: 'ada', credential: { kind: 'external', id: 'x', ...more } }) as Principal;
  const expectRevoked = (message: string) => {
    expect(end).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'key_revoked', message }));
  };

  const YEAR_MS = 365 * 24 * 3_600_000;

  it('ends when it expires, to the millisecond, even after a year', async () => {
    const over = streams.add(external({ expiresAt: new Date(now() + YEAR_MS) }), end);
    await vi.advanceTimersByTimeAsync(YEAR_MS - 1);
    expect(end).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expectRevoked('The credential has expired.');
    over();
  });

  it('does not end before it exists, also where it has expired already', async () => {
    const over = streams.add(external({ expiresAt: new Date(now() - 1) }), end);
    expect(end).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expectRevoked('The credential has expired.');
    over();
  });

  it('ends when it is revoked', () => {
    const revocation = new AbortController();
    const over = streams.add(external({ revoked: revocation.signal }), end);
    revocation.abort();
    expectRevoked('The credential was revoked.');
    over();
  });

  it('ends where it was revoked before', async () => {
    const over = streams.add(external({ revoked: AbortSignal.abort() }), end);
    expect(end).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expectRevoked('The credential was revoked.');
    over();
  });
});

it('a stream is refused above MAX_STREAMS, which is counted, and while the process stops', () => {
  const [drainState, shed] = [new DrainState(), new ShedLoad()];
  const watch = vi.fn<CredentialWatch['watch']>(() => () => undefined);
  const streams = new OpenStreams(
    { watch } as unknown as CredentialWatch,
    drainState,
    shed,
    { maxStreams: 1 } as Config,
    now,
  );
  const principal = { accountId: 'ada', credential: { kind: 'session', sessionId: 's1' } } as Principal;
  const over = streams.add(principal, vi.fn());
  const unavailable = expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 5 }) as Error;
  expect(() => streams.add(principal, vi.fn())).toThrow(unavailable);
  expect([...shed.counts]).toContainEqual(['streams', 1]);
  over();
  drainState.begin();
  expect(() => streams.add(principal, vi.fn())).toThrow(
    expect.objectContaining({ code: 'shutting_down', headers: { Connection: 'close' } }),
  );
  expect([streams.count, watch.mock.calls.length]).toEqual([0, 1]);
});
