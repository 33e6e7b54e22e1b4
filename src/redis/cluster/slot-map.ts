import slotOf from 'cluster-key-slot';
import type { HostAndPort } from '../../config/sources/redis-url.js';
import { addressText } from '../redis-client.js';

/** The slots from `first` to `last`, and the master that serves them. */
export interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly master: HostAndPort;
}

/** Which master serves which slot. Masters are named by their address, such as `10.0.0.1:6379`. */
export class SlotMap {
  private owners: (string | undefined)[] = new Array<string | undefined>(SLOT_COUNT);
  private probeKeys = new Map<string, string | undefined>();

  /** The masters that serve slots. */
  get masters(): ReadonlySet<string> {
    return new Set(this.owners.filter((owner) => owner !== undefined));
  }

  get isComplete(): boolean {
    return !this.owners.includes(undefined);
  }

  ownerOf(key: string): string | undefined {
    return this.owners[slotOf(key)];
  }

  /** Returns a key for probes that the master holds. */
  probeKeyOf(master: string): string | undefined {
    if (!this.probeKeys.has(master)) {
      this.probeKeys.set(master, keyInSlots(this.owners.flatMap((owner, slot) => (owner === master ? [slot] : []))));
    }
    return this.probeKeys.get(master);
  }

  move(slot: number, master: string): void {
    this.owners[slot] = master;
    this.probeKeys.clear();
  }

  /**
   * Replaces the whole map.
   *
   * @returns the masters with new slots, each with the former masters of these slots.
   */
  replace(ranges: readonly SlotRange[]): ReadonlyMap<string, ReadonlySet<string>> {
    const before = this.owners;
    this.owners = new Array<string | undefined>(SLOT_COUNT);
    this.probeKeys.clear();
    const taken = new Map<string, Set<string>>();
    for (const { first, last, master } of ranges) {
      const name = addressText(master);
      this.owners.fill(name, first, last + 1);
      for (const owner of new Set(before.slice(first, last + 1))) {
        if (owner !== undefined && owner !== name) taken.set(name, (taken.get(name) ?? new Set()).add(owner));
      }
    }
    return taken;
  }
}

export const SLOT_COUNT = 16_384;

/** Returns a key for probes in one of the slots, or `undefined` without slots. */
export function keyInSlots(slots: Iterable<number>): string | undefined {
  const wanted = new Set(slots);
  if (wanted.size === 0) return undefined;
  for (let number = 0; ; number++) {
    const key = `chat:probe:{${number}}`;
    if (wanted.has(slotOf(key))) return key;
  }
}
