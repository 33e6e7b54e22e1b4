import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { OutageLog } from '../../../../../src/platform/common/outage-log.js';
import {
  PostgresAvailability,
  ProcessLock,
} from '../../../../../src/platform/database/postgres/postgres-availability.js';
import { ProbeConnection, ProbeTimeout } from '../../../../../src/platform/database/postgres/probe-connection.js';

describe('postgres availability', () => {
  const IDLE_TIMEOUT_MS = 500;
  const REDIAL_MS = 250;
  const REFUSED = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const TOO_MANY = Object.assign(new Error('sorry, too many clients already'), { code: '53300' });

  /** A connection whose answers the test gives. */
  interface Probe {
    readonly ping: ReturnType<typeof vi.fn<() => Promise<void>>>;
    readonly close: ReturnType<typeof vi.fn<() => void>>;
    readonly lock: ReturnType<typeof vi.fn<() => Promise<boolean>>>;
    lose(): void;
  }

  let availability: PostgresAvailability;
  let dialed: Probe[];
  /** The outcome of each connection that is opened. */
  let dialing: () => Promise<void>;
  let silences: number;
  let locks: number;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    vi.spyOn(Logger.prototype, 'log').mockReturnValue();
    vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    dialed = [];
    dialing = () => Promise.resolve();
    silences = 0;
    locks = 0;
    vi.spyOn(ProbeConnection, 'dial').mockImplementation(async (_, onLost) => {
      const probe = {
        isLost: false,
        ping: vi.fn<() => Promise<void>>().mockResolvedValue(),
        close: vi.fn<() => void>(),
        lock: vi.fn<() => Promise<boolean>>().mockResolvedValue(true),
        lose() {
          probe.isLost = true;
          onLost(probe as unknown as ProbeConnection);
        },
      };
      dialed.push(probe);
      await dialing();
      return probe as unknown as ProbeConnection;
    });
    availability = new PostgresAvailability('postgres://server/chat');
    availability.whenSilent(() => (silences += 1));
    availability.whenLocked(() => (locks += 1));
  });
  afterEach(() => {
    availability.onApplicationShutdown();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  /** Lets time pass, and what waits for nothing but turns of the event loop. */
  async function pass(ms = 0): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  async function connected(): Promise<Probe> {
    availability.onModuleInit();
    await pass();
    return last();
  }
  const last = (): Probe => dialed.at(-1) ?? ({} as Probe);
  const never = (): Promise<never> => new Promise(() => undefined);

  /** Makes the server refuse connections, and loses the connection that there is. */
  async function unavailable(): Promise<void> {
    const probe = await connected();
    dialing = () => Promise.reject(REFUSED);
    probe.ping.mockRejectedValue(new Error('Connection terminated'));
    expect(await availability.check()).toBe('unavailable');
  }

  describe('a database that answers', () => {
    it('is connected to in advance, and acquires the lock of this process', async () => {
      vi.spyOn(performance, 'now').mockReturnValue(7_000);
      await connected();
      expect([dialed.length, locks, availability.isUnavailable]).toEqual([1, 1, false]);
      expect(availability.lock?.key).toBeGreaterThan(0);
      expect(availability.lock?.heldSince).toBe(7_000);
    });

    it('is checked once for concurrent requests, and again for later ones', async () => {
      const { ping } = await connected();
      expect(await Promise.all([availability.check(), availability.check()])).toEqual(['available', 'available']);
      expect(ping).toHaveBeenCalledTimes(1);
      expect(await availability.check()).toBe('available');
      expect([ping.mock.calls.length, dialed.length, silences]).toEqual([2, 1, 0]);
    });

    it('is available although it does not accept one more connection', async () => {
      dialing = () => Promise.reject(TOO_MANY);
      expect(await availability.check()).toBe('available');
      expect([availability.isUnavailable, availability.lock]).toEqual([false, undefined]);
    });

    it('is available if the old connection fails, and a new one is accepted', async () => {
      const probe = await connected();
      probe.ping.mockRejectedValue(new Error('Connection terminated'));
      expect(await availability.check()).toBe('available');
      expect([availability.isUnavailable, dialed.length, silences]).toEqual([false, 2, 1]);
    });

    it('is available if the old connection answers late, while a new one is not accepted', async () => {
      const probe = await connected();
      let answer: () => void = () => undefined;
      probe.ping.mockReturnValue(new Promise((resolve) => (answer = resolve)));
      dialing = never;
      const outcome = availability.check();
      await pass(IDLE_TIMEOUT_MS);
      expect(dialed).toHaveLength(2);
      answer();
      expect(await outcome).toBe('available');
      expect(probe.close).not.toHaveBeenCalled();
    });
  });

  describe('a connection that is silent', () => {
    it('is replaced after half a second, with its lock; others of its age are reported', async () => {
      const old = await connected();
      old.ping.mockImplementation(never);
      const outcome = availability.check();
      await pass(IDLE_TIMEOUT_MS - 1);
      expect(dialed).toHaveLength(1);
      await pass(1);
      expect(await outcome).toBe('available');
      expect([dialed.length, old.close.mock.calls.length, silences, locks]).toEqual([2, 1, 1, 2]);
      expect(availability.lock).toBeDefined();
      await availability.check();
      expect(last().ping).toHaveBeenCalledTimes(1);
    });

    it('leaves no lock if the new one does not get it', async () => {
      const old = await connected();
      old.ping.mockImplementation(never);
      dialing = () => {
        last().lock.mockResolvedValue(false);
        return Promise.resolve();
      };
      const outcome = availability.check();
      await pass(IDLE_TIMEOUT_MS);
      await outcome;
      expect([availability.lock, locks]).toEqual([undefined, 1]);
    });

    it.each([
      ['refuses', () => Promise.reject(REFUSED)],
      ['does not answer', () => Promise.reject(new ProbeTimeout())],
    ])('reports that the database is unavailable if the server %s', async (_, refusal) => {
      const old = await connected();
      old.ping.mockImplementation(never);
      dialing = refusal;
      const outcome = availability.check();
      await pass(IDLE_TIMEOUT_MS);
      expect(await outcome).toBe('unavailable');
      expect(availability.isUnavailable).toBe(true);
      expect(
        vi.mocked(Logger.prototype.error).mock.calls.length + vi.mocked(Logger.prototype.warn).mock.calls.length,
      ).toBe(1);
    });
  });

  describe('a database that answers late', () => {
    const SLOW_SILENCE_MS = 10_000;
    let answer: () => void;

    /** Waits for an answer in vain. */
    async function silent(outcome: string): Promise<void> {
      last().ping.mockReturnValue(new Promise((resolve) => (answer = resolve)));
      dialing = () => Promise.reject(new ProbeTimeout());
      const checked = availability.check();
      await pass(IDLE_TIMEOUT_MS);
      expect(await checked).toBe(outcome);
    }
    async function answeredLate(): Promise<void> {
      const before = dialed.length;
      await silent('unavailable');
      answer();
      await pass();
      expect(availability.isUnavailable).toBe(false);
      // The connection that does not come leaves the old one.
      dialed.splice(before);
    }

    it('is available from then on, and may be unavailable again', async () => {
      await connected();
      await answeredLate();
      await silent('unavailable');
      expect(availability.isUnavailable).toBe(true);
    });

    it('twice is slow: it may be silent for 10 seconds, but refuses no connections', async () => {
      await connected();
      await answeredLate();
      await answeredLate();
      const old = last();
      await silent('available');
      dialed.splice(0, dialed.length, old);
      dialing = () => Promise.reject(REFUSED);
      const refused = availability.check();
      await pass(IDLE_TIMEOUT_MS);
      expect(await refused).toBe('unavailable');
    });

    it('twice is unavailable after 10 seconds of silence', async () => {
      await connected();
      await answeredLate();
      await answeredLate();
      const old = last();
      await silent('available');
      dialed.splice(0, dialed.length, old);
      const now = performance.now();
      vi.spyOn(performance, 'now').mockReturnValue(now + SLOW_SILENCE_MS);
      await silent('unavailable');
    });
  });

  describe('a database that is unavailable', () => {
    it('is not queried by requests, but tried every quarter of a second until it is available', async () => {
      await unavailable();
      const before = dialed.length;
      expect(await availability.check()).toBe('unavailable');
      expect(dialed).toHaveLength(before);
      await pass(REDIAL_MS - 1);
      expect(dialed).toHaveLength(before);
      await pass(1);
      await pass(REDIAL_MS);
      expect([dialed.length, availability.isUnavailable]).toEqual([before + 2, true]);

      dialing = () => Promise.resolve();
      await pass(REDIAL_MS);
      expect(availability.isUnavailable).toBe(false);
      expect(await availability.check()).toBe('available');
      await pass(4 * REDIAL_MS);
      expect([dialed.length, vi.getTimerCount()]).toEqual([before + 3, 0]);
    });

    it('is logged with the reason, once, and when it is available again', async () => {
      await unavailable();
      expect(vi.mocked(Logger.prototype.warn).mock.calls.flat()).toEqual([
        expect.stringContaining('The database is unavailable (connect ECONNREFUSED)'),
      ]);
      await pass(2 * REDIAL_MS);
      expect(Logger.prototype.log).not.toHaveBeenCalled();
      dialing = () => Promise.resolve();
      await pass(REDIAL_MS);
      expect(vi.mocked(Logger.prototype.log).mock.calls.flat()).toEqual([
        expect.stringMatching(/^The database is back after \d+ s$/),
      ]);
      expect(Logger.prototype.warn).toHaveBeenCalledTimes(1);
    });

    it('is no longer logged when the process ends', async () => {
      await unavailable();
      const log = Reflect.get(availability, 'log') as OutageLog;
      expect(log.isOpen).toBe(true);
      availability.onApplicationShutdown();
      expect(log.isOpen).toBe(false);
    });

    it('is tried by one timer that does not keep the process alive', async () => {
      await unavailable();
      expect(vi.getTimerCount()).toBe(1);
      expect((Reflect.get(availability, 'redialing') as NodeJS.Timeout).hasRef()).toBe(false);
    });

    it('can be checked again when it is available, and be unavailable again', async () => {
      await unavailable();
      dialing = () => Promise.resolve();
      await pass(REDIAL_MS);
      last().ping.mockRejectedValue(new Error('Connection terminated'));
      dialing = () => Promise.reject(REFUSED);
      expect(await availability.check()).toBe('unavailable');
    });
  });

  describe('a connection that is lost', () => {
    it('loses the lock with it, and is replaced soon', async () => {
      const lost = await connected();
      lost.lose();
      expect(availability.lock).toBeUndefined();
      await pass(REDIAL_MS - 1);
      expect(dialed).toHaveLength(1);
      await pass(1);
      expect([dialed.length, availability.isUnavailable, vi.getTimerCount()]).toEqual([2, false, 0]);
      expect(availability.lock).toBeDefined();
      expect([lost.close.mock.calls.length, silences]).toEqual([0, 0]);
    });

    it('reports that the database is unavailable if no new one is accepted', async () => {
      const lost = await connected();
      dialing = () => Promise.reject(REFUSED);
      lost.lose();
      await pass(REDIAL_MS);
      expect(availability.isUnavailable).toBe(true);
    });

    it('is none of ours when it has been replaced', async () => {
      const old = await connected();
      old.ping.mockImplementation(never);
      const outcome = availability.check();
      await pass(IDLE_TIMEOUT_MS);
      await outcome;
      old.lose();
      expect([availability.lock === undefined, vi.getTimerCount()]).toEqual([false, 0]);
    });
  });

  describe('at the end of the process', () => {
    it('the connection is closed, and no query is sent any more', async () => {
      const probe = await connected();
      availability.onApplicationShutdown();
      expect(probe.close).toHaveBeenCalledTimes(1);
      expect(await availability.check()).toBe('available');
      expect(probe.ping).not.toHaveBeenCalled();
    });

    it('a lost connection is not replaced', async () => {
      const probe = await connected();
      availability.onApplicationShutdown();
      probe.lose();
      expect(vi.getTimerCount()).toBe(0);
    });

    it('a connection that comes too late is closed', async () => {
      let accept: () => void = () => undefined;
      dialing = () => new Promise((resolve) => (accept = resolve));
      availability.onModuleInit();
      await pass();
      availability.onApplicationShutdown();
      accept();
      await pass();
      expect([last().close.mock.calls.length, last().lock.mock.calls.length, locks]).toEqual([1, 0, 0]);
    });

    it('a database that cannot be reached is not called unavailable, nor tried again', async () => {
      let refuse: (error: Error) => void = () => undefined;
      dialing = () => new Promise((_, reject) => (refuse = reject));
      availability.onModuleInit();
      await pass();
      availability.onApplicationShutdown();
      refuse(REFUSED);
      await pass();
      expect([availability.isUnavailable, vi.getTimerCount()]).toEqual([false, 0]);
    });

    it('the next try is not made', async () => {
      await unavailable();
      availability.onApplicationShutdown();
      const before = dialed.length;
      await pass(2 * REDIAL_MS);
      expect(dialed).toHaveLength(before);
    });

    it('a try that runs has no next one', async () => {
      await unavailable();
      let refuse: (error: Error) => void = () => undefined;
      dialing = () => new Promise((_, reject) => (refuse = reject));
      await pass(REDIAL_MS);
      availability.onApplicationShutdown();
      refuse(REFUSED);
      await pass();
      expect(vi.getTimerCount()).toBe(0);
    });
  });
});

it('the lock of a connection that is lost before its answer is read is not held', async () => {
  const lock = new ProcessLock();
  let notified = 0;
  lock.onTaken.push(() => (notified += 1));
  const connection = { isLost: true, lock: () => Promise.resolve(true) };
  await lock.take(connection as unknown as ProbeConnection);
  expect([lock.held, notified]).toEqual([undefined, 0]);

  connection.isLost = false;
  await lock.take(connection as unknown as ProbeConnection);
  expect([lock.held === undefined, notified]).toEqual([false, 1]);
});
