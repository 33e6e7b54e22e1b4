import type { SeededRandom } from '../../support/seeded-random.js';
import { NOBODY, type Owner, type VirtualTime } from './virtual-time.js';

/** `stalled`: nothing arrives until the link works again. `deaf`: requests arrive, and replies do not. */
export type LinkState = 'up' | 'cut' | 'stalled' | 'deaf';

/** The link is cut. */
export class Lost extends Error {
  constructor(readonly wasSent: boolean) {
    super(wasSent ? 'the connection was lost' : 'there is no connection');
  }
}

interface Exchange {
  reject(error: Error): void;
  isOver: boolean;
}

/** Mostly short, sometimes as long as the time limits of the service. */
const DELAYS_MS = [0, 1, 1, 1, 2, 2, 3, 5, 20, 150];
/** A request that was on its way when its connection broke may still arrive, for so long. */
const LATE_MS = 5_000;

/**
 * The network between one replica and one store. It can lose a request or its reply, delay both, and deliver a request long after its
 * sender has given up. Requests of one connection arrive in order.
 */
export class Link {
  state: LinkState = 'up';
  /** How much longer each reply takes, in milliseconds. */
  slowMs = 0;
  private arrivesAt = 0;
  private readonly waiting = new Set<Exchange>();
  /** What arrives when the link works again. */
  private held: (() => void)[] = [];

  /** @param lateMs how long a request may take whose connection broke. The later ones wait for it. 0: it matters to nobody. */
  constructor(
    private readonly time: VirtualTime,
    private readonly owner: Owner,
    private readonly random: SeededRandom,
    private readonly lateMs = LATE_MS,
  ) {}

  /**
   * Sends a request.
   *
   * @param execute runs in the store. Time stands still meanwhile.
   * @param mayBeLate false for a transaction that locks a row: without its client, it is not committed later.
   * @throws {Lost} and every error of the store.
   */
  call<T>(execute: () => Promise<T>, mayBeLate = true): Promise<T> {
    if (this.state === 'cut') return Promise.reject(new Lost(false));
    return new Promise((resolve, reject) => {
      const exchange: Exchange = { reject, isOver: false };
      this.waiting.add(exchange);
      const reply = (settle: () => void): void => {
        if (this.state === 'deaf' || this.state === 'stalled') {
          // What was sent into a dead connection may come when the link works again.
          if (this.state === 'stalled') {
            this.held.push(() => {
              this.deliver(settle, exchange);
            });
          }
          return;
        }
        this.deliver(settle, exchange);
      };
      const arrive = async (): Promise<void> => {
        if (exchange.isOver && !mayBeLate) return;
        try {
          const result = await execute();
          reply(() => {
            resolve(result);
          });
        } catch (error) {
          reply(() => {
            reject(error instanceof Error ? error : new Error(String(error)));
          });
        }
      };
      this.send(arrive, exchange);
    });
  }

  /** Breaks the connection: what waits for a reply gets none. Requests on their way may still arrive. */
  reset(): void {
    for (const exchange of this.waiting) {
      exchange.isOver = true;
      exchange.reject(new Lost(true));
    }
    this.waiting.clear();
    this.arrivesAt = this.time.nowMs;
  }

  set(state: LinkState): void {
    // Lost replies cannot be repaired.
    if (state === 'cut' || this.state === 'deaf') this.reset();
    this.state = state;
    if (state !== 'up') return;
    for (const arrive of this.held.splice(0)) arrive();
  }

  private send(arrive: () => Promise<void>, exchange: Exchange): void {
    const arriveIn = (ms: number): void => {
      this.arrivesAt = Math.max(this.arrivesAt, this.time.nowMs + ms);
      this.time.after(this.arrivesAt - this.time.nowMs, arrive, NOBODY);
    };
    if (this.state !== 'stalled') {
      arriveIn(this.random.pick(DELAYS_MS));
      return;
    }
    this.held.push(() => {
      // What was sent on a connection that is lost by now arrives late, or never.
      if (!exchange.isOver) arriveIn(0);
      else if (this.random.chance(0.5)) this.time.after(this.random.between(0, this.lateMs), arrive, NOBODY);
    });
  }

  private deliver(settle: () => void, exchange: Exchange): void {
    this.time.after(
      this.random.pick(DELAYS_MS) + this.slowMs,
      () => {
        this.waiting.delete(exchange);
        if (!exchange.isOver) settle();
        exchange.isOver = true;
      },
      this.owner,
    );
  }
}
