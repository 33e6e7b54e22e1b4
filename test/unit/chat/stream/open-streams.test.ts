import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CredentialWatch, WatchedCredential } from '../../../../src/accounts/ended/credential-watch.js';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import { OpenStreams, type EndStream } from '../../../../src/chat/stream/open-streams.js';
import { DrainState } from '../../../../src/platform/common/drain-state.js';
import { ShedLoad } from '../../../../src/platform/common/shed-load.js';
import type { Config } from '../../../../src/platform/config/config.js';

const PRINCIPAL = { accountId: 'ada', credential: { kind: 'external', id: 'x' } } as Principal;
const GRACE_MS = 60_000;
const LINGER_MS = 2_000;

/** The clock of the database is ahead of the process. */
const now = (): number => Date.now() + 90_000;

describe('the streams of a process that stops', () => {
  let streams: OpenStreams;
  let isDrained: boolean;

  beforeEach(() => {
    vi.useFakeTimers();
    streams = new OpenStreams(
      { watch: () => () => undefined } as unknown as CredentialWatch,
      new DrainState(),
      new ShedLoad(),
      { maxStreams: 9 } as Config,
      now,
    );
    isDrained = false;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const drain = () =>
    streams.drain(GRACE_MS, LINGER_MS).then(() => {
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

  it('are not waited for where there are none', async () => {
    await drain();
    expect([isDrained, vi.getTimerCount()]).toEqual([true, 0]);
  });

  it('are ended when the grace is over, and awaited for a little longer', async () => {
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

    await vi.advanceTimersByTimeAsync(GRACE_MS + LINGER_MS);

    await drained;
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('an open stream', () => {
  const watches: string[] = [];
  /** A watch that the test fires. */
  class FakeWatch {
    readonly ended = new Map<string, () => void>();

    watch({ kind, id, accountId }: WatchedCredential, onEnded: () => void): () => void {
      this.ended.set(id, onEnded);
      watches.push(`${kind} ${id} of ${accountId}`);
      return () => {
        this.ended.delete(id);
      };
    }
  }

  let credentials: FakeWatch;
  let drainState: DrainState;
  let shed: ShedLoad;
  let streams: OpenStreams;
  let end: ReturnType<typeof vi.fn<EndStream>>;

  beforeEach(() => {
    vi.useFakeTimers();
    watches.length = 0;
    credentials = new FakeWatch();
    [drainState, shed, end] = [new DrainState(), new ShedLoad(), vi.fn<EndStream>()];
    streams = new OpenStreams(
      credentials as unknown as CredentialWatch,
      drainState,
      shed,
      { maxStreams: 2 } as Config,
      now,
    );
  });
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  const of = (credential: object) => ({ accountId: 'ada', credential }) as Principal;
  const KEY = of({ kind: 'api_key', keyId: 'k1' });
  const SESSION = of({ kind: 'session', sessionId: 's1' });
  const external = (more: object) => of({ kind: 'external', id: 'x', ...more });
  const expectRevoked = (message: string) => {
    expect(end).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'key_revoked', message }));
  };

  it.each([
    [KEY, 'api_key k1 of ada', 'The API key was revoked, has expired, or belongs to a disabled account.'],
    [SESSION, 'session s1 of ada', 'The session has ended.'],
    [of({ kind: 'external', id: 'x' }), 'account ada of ada', 'The account was disabled or deleted.'],
  ] as const)('ends with its credential: %#', (principal, watched, message) => {
    const over = streams.add(principal, end);
    expect(watches).toEqual([watched]);
    for (const onEnded of credentials.ended.values()) onEnded();
    expectRevoked(message);
    over();
    expect(credentials.ended.size).toBe(0);
  });

  it('is watched until it is over, and counted', () => {
    const [first, second] = [streams.add(KEY, end), streams.add(SESSION, vi.fn())];
    expect(streams.count).toBe(2);
    first();
    first();
    expect([streams.count, [...credentials.ended.keys()]]).toEqual([1, ['s1']]);
    second();
    expect(streams.count).toBe(0);
  });

  it('is refused above MAX_STREAMS, which is counted, and while the process stops', () => {
    streams.add(KEY, vi.fn());
    const over = streams.add(KEY, vi.fn());
    expect(() => streams.add(KEY, end)).toThrow(expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 5 }));
    expect([...shed.counts]).toContainEqual(['streams', 1]);
    over();
    drainState.begin();
    expect(() => streams.add(KEY, end)).toThrow(
      expect.objectContaining({ code: 'shutting_down', headers: { Connection: 'close' } }),
    );
    expect([streams.count, watches.length]).toEqual([1, 2]);
  });

  it('that only reads uses no slot, ends with its credential, and is awaited at the stop', async () => {
    const over = streams.addReader(KEY, end);
    expect(streams.count).toBe(0);
    for (const onEnded of credentials.ended.values()) onEnded();
    expectRevoked('The API key was revoked, has expired, or belongs to a disabled account.');
    let isDrained = false;
    const drained = streams.drain(GRACE_MS, LINGER_MS).then(() => (isDrained = true));
    await vi.advanceTimersByTimeAsync(1);
    expect(isDrained).toBe(false);
    over();
    await drained;
    expect(credentials.ended.size).toBe(0);
  });

  it('that only reads is ended when the grace is over', async () => {
    const over = streams.addReader(KEY, end);
    const drained = streams.drain(GRACE_MS, LINGER_MS);
    await vi.advanceTimersByTimeAsync(GRACE_MS);
    expect(end).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'shutting_down' }));
    over();
    await drained;
  });

  describe('with a credential of a plugin', () => {
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

    it('is not watched once it is over', async () => {
      const revocation = new AbortController();
      const removed = vi.spyOn(revocation.signal, 'removeEventListener');
      const expiresAt = new Date(now() + 1_000);
      streams.add(external({ revoked: revocation.signal, expiresAt }), end)();
      expect(removed).toHaveBeenCalledOnce();
      revocation.abort();
      await vi.advanceTimersByTimeAsync(2_000);
      expect(end).not.toHaveBeenCalled();
    });

    it('needs no timer without an end', async () => {
      const over = streams.add(external({}), end);
      await vi.advanceTimersByTimeAsync(1);
      expect(vi.getTimerCount()).toBe(0);
      over();
    });
  });
});
