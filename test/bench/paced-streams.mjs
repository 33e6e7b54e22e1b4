/**
 * Calls many streams on their clocks from one timer: a wheel an interval, a slot a millisecond, a random slot a stream.
 * A timer for each would cost the vendor more than its writes.
 */
export class PacedStreams {
  /** @type {Map<number, { slots: Set<() => boolean>[], next: number }>} */
  #wheels = new Map();
  #size = 0;
  #timer;

  /**
   * @param {number} everyMs
   * @param {() => boolean} send sends the next event; false when there is none left
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
      // After a pause, a slot that came by twice is called once: a vendor that was held up does not send in bursts.
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
