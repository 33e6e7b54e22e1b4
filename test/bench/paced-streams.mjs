/**
 * Sends the events of many streams at fixed intervals, with one timer for all streams. There is one wheel for each interval.
 * A wheel has one slot for each millisecond, and each stream has a random slot. One timer for each stream would cost the
 * provider more than its writes.
 */
export class PacedStreams {
  /** @type {Map<number, { slots: Set<() => boolean>[], next: number }>} */
  #wheels = new Map();
  #size = 0;
  #timer;

  /**
   * @param {number} everyMs
   * @param {() => boolean} send sends the next event. Returns false if no event is left.
   */
  add(everyMs, send) {
    let wheel = this.#wheels.get(everyMs);
    if (wheel === undefined) {
      wheel = { slots: Array.from({ length: everyMs }, () => new Set()), next: Math.floor(performance.now()) };
      this.#wheels.set(everyMs, wheel);
    }
    wheel.slots[Math.floor(Math.random() * everyMs)].add(send);
    this.#size += 1;
    this.#timer ??= setInterval(() => this.#turn(), 1);
  }

  #turn() {
    const now = Math.floor(performance.now());
    for (const { slots, next } of this.#wheels.values()) {
      // After a delay, a slot that was due several times is called only once. A delayed provider must not send in bursts.
      for (let at = Math.max(next, now - slots.length + 1); at <= now; at += 1) {
        const slot = slots[at % slots.length];
        for (const send of slot) {
          if (!send()) {
            slot.delete(send);
            this.#size -= 1;
          }
        }
      }
    }
    for (const wheel of this.#wheels.values()) wheel.next = now + 1;
    if (this.#size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }
}
