import { Injectable } from '@nestjs/common';
import { StreamSlots, type StreamSlot } from './stream-slots.js';

/** Counts the open streams of this process. */
@Injectable()
export class InProcessStreamSlots extends StreamSlots {
  private readonly taken = new Map<string, number>();

  acquire(accountId: string, limit: number): Promise<StreamSlot | undefined> {
    const taken = this.taken.get(accountId) ?? 0;
    if (taken >= limit) return Promise.resolve(undefined);
    this.taken.set(accountId, taken + 1);
    let held = true;
    const release = (): void => {
      if (held) this.giveBack(accountId);
      held = false;
    };
    return Promise.resolve({ release });
  }

  private giveBack(accountId: string): void {
    const left = (this.taken.get(accountId) ?? 1) - 1;
    if (left > 0) this.taken.set(accountId, left);
    else this.taken.delete(accountId);
  }
}
