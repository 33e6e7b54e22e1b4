import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RedisConnection } from '../../../../src/redis/redis-connection.js';
import { RedisCooldowns } from '../../../../src/upstreams/routing/redis-cooldowns.js';
import { Latch } from '../../../support/latch.js';
import { restoreDelays, moveDelays, type Pause } from '../../../support/moved-delays.js';

/** The connection of a subscriber, which the test plays. */
class Subscriber extends EventEmitter {
  isOpen = true;
  channels: string[] = [];
  subscribing: Promise<void> = Promise.resolve();
  onMessage: (message: string) => void = () => undefined;

  subscribe(channel: string, listener: (message: string) => void): Promise<void> {
    this.channels.push(channel);
    this.onMessage = listener;
    return this.subscribing;
  }

  destroy(): void {
    if (!this.isOpen) throw new Error('closed');
    this.isOpen = false;
    this.emit('end');
  }
}

let subscribers: Subscriber[];
/** What the next connection waits for. */
let opening: Promise<void>;
let openings: object[];
let stored: string[];
let reads: number;
let notifyBack: () => void;
let received: [string, number][];
let pauses: Pause[];
let cooldowns: RedisCooldowns;

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};
const last = (): Subscriber => subscribers.at(-1) ?? new Subscriber();

beforeEach(() => {
  pauses = moveDelays();
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  subscribers = [];
  opening = Promise.resolve();
  openings = [];
  stored = ['acme fast', '7000'];
  reads = 0;
  received = [];
  cooldowns = new RedisCooldowns({
    database: 3,
    whenBack: (listener: () => void) => (notifyBack = listener),
    openAnother: async (options: object) => {
      openings.push(options);
      await opening;
      const subscriber = new Subscriber();
      subscribers.push(subscriber);
      return subscriber;
    },
    run: () => {
      reads += 1;
      return Promise.resolve(stored);
    },
  } as unknown as RedisConnection);
  cooldowns.subscribe((key, ms) => received.push([key, ms]));
});
afterEach(() => {
  cooldowns.onApplicationShutdown();
  restoreDelays();
  vi.restoreAllMocks();
});

describe('the cooldowns of all replicas', () => {
  it('arrive on a connection that is kept by pings, on the channel of the database', async () => {
    cooldowns.onApplicationBootstrap();
    await turns();
    expect(openings).toEqual([{ pingEveryMs: 5_000 }]);
    expect(last().channels).toEqual(['chat:cooldowns:3']);
    last().onMessage('another 500 acme smart one');
    expect(received.at(-1)).toEqual(['acme smart one', 500]);
  });

  it('that were missed are read once the subscription has begun', async () => {
    const latch = new Latch();
    const subscribe = vi.spyOn(Subscriber.prototype, 'subscribe').mockImplementation(() => latch.opened);
    cooldowns.onApplicationBootstrap();
    await turns();
    expect([subscribe.mock.calls.length, reads]).toEqual([1, 0]);
    latch.open();
    await turns();
    expect(received).toEqual([['acme fast', 7_000]]);
  });

  it('are read again when Redis is back', async () => {
    notifyBack();
    await turns();
    expect(received).toEqual([['acme fast', 7_000]]);
  });

  it('arrive again after a delay, on another connection, when one is lost', async () => {
    cooldowns.onApplicationBootstrap();
    await turns();
    const lost = last();
    lost.emit('error', new Error('reset'));
    await turns();
    expect(lost.isOpen).toBe(false);
    expect(pauses).toEqual([[375, false]]);
    await vi.advanceTimersByTimeAsync(374);
    expect(subscribers).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await turns();
    expect(subscribers).toHaveLength(2);
    expect(last().channels).toEqual(['chat:cooldowns:3']);
  });

  it('arrive again when the server has closed the connection', async () => {
    cooldowns.onApplicationBootstrap();
    await turns();
    last().destroy();
    await vi.advanceTimersByTimeAsync(375);
    await turns();
    expect(subscribers).toHaveLength(2);
  });

  it('arrive again after a failed subscription, whose connection is closed', async () => {
    vi.spyOn(Subscriber.prototype, 'subscribe').mockRejectedValueOnce(new Error('no permission'));
    cooldowns.onApplicationBootstrap();
    await turns();
    expect(last().isOpen).toBe(false);
    await vi.advanceTimersByTimeAsync(375);
    await turns();
    expect([subscribers.length, reads]).toEqual([2, 1]);
  });

  it('no longer arrive after the end of the service', async () => {
    cooldowns.onApplicationBootstrap();
    await turns();
    cooldowns.onApplicationShutdown();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([subscribers.length, last().isOpen]).toEqual([1, false]);
  });

  it('are not subscribed to on a connection that opens after the end of the service', async () => {
    const latch = new Latch();
    opening = latch.opened;
    cooldowns.onApplicationBootstrap();
    cooldowns.onApplicationShutdown();
    latch.open();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(last()).toMatchObject({ isOpen: false, channels: [] });
    expect(subscribers).toHaveLength(1);
  });
});
