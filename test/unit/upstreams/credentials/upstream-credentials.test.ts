import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Credential } from '../../../../src/upstreams/contract/credential.js';
import { credentialsUnavailable } from '../../../../src/upstreams/contract/provider-failure.js';
import { UpstreamCredentials } from '../../../../src/upstreams/credentials/upstream-credentials.js';

const HOUR_MS = 3_600_000;
const UNAVAILABLE = { code: 'upstream_error', failureCause: { kind: 'credentials_unavailable' }, scope: 'upstream' };

let now = 0;
let cache: UpstreamCredentials;
const obtain = vi.fn<(signal: AbortSignal) => Promise<Credential>>();

function credential(lifetimeMs = HOUR_MS): Credential {
  return { expiresAt: now + lifetimeMs, authorize: () => ({}) };
}

beforeEach(() => {
  now = Date.parse('2026-11-26');
  obtain.mockReset().mockImplementation(() => Promise.resolve(credential()));
  cache = new UpstreamCredentials(obtain, () => now);
});

describe('the credentials of an upstream', () => {
  it('are kept for ever if they do not expire', async () => {
    const unlimited: Credential = { authorize: () => ({}) };
    obtain.mockResolvedValue(unlimited);
    await cache.get();
    now += 10_000 * HOUR_MS;
    expect(await cache.get()).toBe(unlimited);
    expect(obtain).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['five minutes before the end of an hour', HOUR_MS, 55 * 60_000],
    ['in the last quarter of a short life', 40_000, 30_000],
  ])('are replaced %s, while the requests use the present ones', async (_, lifetimeMs, dueMs) => {
    obtain.mockResolvedValueOnce(credential(lifetimeMs));
    const first = await cache.get();
    let arrive!: (next: Credential) => void;
    obtain.mockReturnValueOnce(new Promise((resolve) => (arrive = resolve)));
    now += dueMs;
    for (let request = 0; request < 200; request++) expect(await cache.get()).toBe(first);
    expect(obtain).toHaveBeenCalledTimes(2);
    const second = credential();
    arrive(second);
    await vi.waitFor(async () => {
      expect(await cache.get()).toBe(second);
    });
    expect(obtain).toHaveBeenCalledTimes(2);
  });

  it('are not used any more in the last half minute of an hour', async () => {
    const first = await cache.get();
    now += HOUR_MS - 29_000;
    expect(await cache.get()).not.toBe(first);
  });

  it('that have expired when they arrive are a failure', async () => {
    obtain.mockResolvedValue(credential(0));
    await expect(cache.get()).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe('a source of credentials that fails', () => {
  it('does not stop requests while the present credentials are valid, and is asked again every 2 seconds', async () => {
    const first = await cache.get();
    obtain.mockRejectedValue(new Error('down'));
    now += 56 * 60_000;
    for (let second = 0; second < 4; second++) {
      for (let request = 0; request < 50; request++) expect(await cache.get()).toBe(first);
      now += 1_000;
    }
    expect(obtain).toHaveBeenCalledTimes(3);
  });

  it('lets all requests of the next 2 seconds fail at once, without asking again', async () => {
    obtain.mockRejectedValue(credentialsUnavailable('HTTP 503'));
    await Promise.all(Array.from({ length: 20 }, () => expect(cache.get()).rejects.toMatchObject(UNAVAILABLE)));
    now += 1_999;
    await expect(cache.get()).rejects.toMatchObject(UNAVAILABLE);
    expect(obtain).toHaveBeenCalledTimes(1);
    now += 1;
    obtain.mockResolvedValue(credential());
    await expect(cache.get()).resolves.toBeDefined();
  });

  it('has 10 seconds, and is stopped then', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let signal: AbortSignal | undefined;
    obtain.mockImplementation((given) => {
      signal = given;
      return new Promise(() => undefined);
    });
    const asked = cache.get().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await asked).toMatchObject(UNAVAILABLE);
    expect(signal?.aborted).toBe(true);
  });

  it('does not get its message into the log', async () => {
    obtain.mockRejectedValue(Object.assign(new Error('Command failed: print-secret s3cret'), { name: 'TokenError' }));
    const error: unknown = await cache.get().catch((failure: unknown) => failure);
    expect(error).toMatchObject({ failureCause: { kind: 'credentials_unavailable', code: 'TokenError' } });
    const { message, cause } = error as Error;
    expect(message + String(cause)).not.toContain('s3cret');
  });
});

describe('credentials that the provider refuses', () => {
  it('are replaced once for all requests that were refused', async () => {
    const first = await cache.get();
    const renewed = await Promise.all(Array.from({ length: 200 }, async () => cache.renew(first)));
    expect(new Set(renewed)).toEqual(new Set([await cache.get()]));
    expect(renewed[0]).not.toBe(first);
    expect(obtain).toHaveBeenCalledTimes(2);
  });

  it('are replaced each time if the provider has accepted them before', async () => {
    for (let refusals = 1; refusals <= 3; refusals++) {
      const present = await cache.get();
      cache.accept(present);
      expect(await cache.renew(present)).not.toBe(present);
    }
    expect(obtain).toHaveBeenCalledTimes(4);
  });

  it('are replaced once in 10 seconds if the provider refuses all', async () => {
    const second = await cache.renew(await cache.get());
    if (second === undefined) throw new Error('The credentials were not replaced.');
    expect(cache.renew(second)).toBeUndefined();
    now += 10_000;
    expect(await cache.renew(second)).not.toBe(second);
    expect(obtain).toHaveBeenCalledTimes(3);
  });
});
