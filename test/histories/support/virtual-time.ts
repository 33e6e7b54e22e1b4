/** Whose callbacks wait while its process is stopped. */
export interface Owner {
  /** Nothing of this owner runs before this time. `Infinity`: the process is dead. */
  readonly stoppedUntil: number;
}

/** What a callback returns holds up time, such as a command that a real store runs. */
type Callback = () => unknown;

interface Event {
  readonly at: number;
  /** Events of the same time run in this order. */
  readonly order: number;
  readonly owner: Owner;
  readonly callback: Callback;
  isCancelled: boolean;
}

const real = { setImmediate, setTimeout, clearTimeout, setInterval, clearInterval };
const { timeout } = AbortSignal;
/** A timeout of the service starts a real `setImmediate`, whose callback may start another one. */
const TURNS = 3;
/** Of nobody: the stores, the network and the test. */
export const NOBODY: Owner = { stoppedUntil: -Infinity };

/**
 * Time that stands still until the next event, for all timers and clocks of this process. Each callback runs alone: everything that it
 * causes happens before the next one. So a run depends on nothing but the delays of its events.
 */
export class VirtualTime {
  nowMs = 0;
  /** Who starts the timers of this moment. */
  owner = NOBODY;
  private events: Event[] = [];
  private started = 0;

  /** Replaces the timers and the monotonic clock of this process. */
  install(): void {
    const start = (callback: Callback, ms = 0): Handle => new Handle(this.after(ms, callback));
    const stop = (handle: Handle | undefined): void => {
      handle?.stop();
    };
    const repeat = (callback: Callback, ms: number): Handle => {
      const again = (): void => {
        handle.event = this.after(ms, again);
        callback();
      };
      const handle = new Handle(this.after(ms, again));
      return handle;
    };
    Object.assign(globalThis, { setTimeout: start, clearTimeout: stop, setInterval: repeat, clearInterval: stop });
    performance.now = () => this.nowMs;
    AbortSignal.timeout = (ms) => {
      const late = new AbortController();
      this.after(ms, () => {
        late.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
      });
      return late.signal;
    };
  }

  restore(): void {
    Object.assign(globalThis, real);
    Reflect.deleteProperty(performance, 'now');
    AbortSignal.timeout = timeout;
  }

  /** Calls back after some time, on behalf of the owner of this moment. */
  after(ms: number, callback: Callback, owner = this.owner): Event {
    const at = this.nowMs + Math.max(ms, 0);
    const event = { at, order: this.started++, owner, callback, isCancelled: false };
    this.insert(event);
    return event;
  }

  /** Does something on behalf of an owner, with everything that it causes at once. */
  async as(owner: Owner, act: Callback): Promise<void> {
    this.owner = owner;
    try {
      const outcome = act();
      // The service does not hold up time, and a store does.
      if (owner === NOBODY) await outcome;
      await this.settle();
    } finally {
      this.owner = NOBODY;
    }
  }

  /** Lets this much time pass, or less if `until` is true earlier. */
  async pass(ms: number, until: () => boolean = () => false): Promise<void> {
    const end = this.nowMs + ms;
    await this.settle();
    for (;;) {
      const [event] = this.events;
      if (event === undefined || event.at > end || until()) break;
      this.events.shift();
      if (event.isCancelled || event.owner.stoppedUntil === Infinity) continue;
      if (event.owner.stoppedUntil > event.at) {
        this.insert({ ...event, at: event.owner.stoppedUntil, order: this.started++ });
        continue;
      }
      this.nowMs = Math.max(this.nowMs, event.at);
      await this.as(event.owner, event.callback);
    }
    if (!until()) this.nowMs = end;
  }

  /** Forgets all events. */
  clear(): void {
    this.events = [];
  }

  private insert(event: Event): void {
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.events[middle] as Event;
      if (other.at < event.at || (other.at === event.at && other.order < event.order)) low = middle + 1;
      else high = middle;
    }
    this.events.splice(low, 0, event);
  }

  private async settle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => real.setImmediate(resolve));
  }
}

/** What the service gets for a timer. */
class Handle {
  constructor(public event: Event) {}

  stop(): void {
    this.event.isCancelled = true;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
