import type { Response } from 'express';
import type { HeldSlots } from './held-slots.js';
import type { Lease } from './limit-store.js';

/**
 * The lease of a request that was let in. Its place is given back when the response is over, and its tokens too, unless
 * somebody took it over to say what was used of them.
 */
export class HeldLease implements Lease {
  private isTaken = false;
  private holdsSlot: boolean;

  constructor(
    private readonly lease: Lease,
    response: Response,
    private readonly slots: HeldSlots,
    holdsSlot: boolean,
  ) {
    this.holdsSlot = holdsSlot;
    if (holdsSlot) slots.count++;
    const end = (): void => {
      this.release();
      if (!this.isTaken) lease.settle(0);
    };
    if (response.closed) end();
    else response.once('close', end);
  }

  get tokens(): number | undefined {
    return this.lease.tokens;
  }

  /** From now on the caller settles, however the stream ends. */
  takeOver(): void {
    this.isTaken = true;
  }

  release(): void {
    if (this.holdsSlot) this.slots.count--;
    this.holdsSlot = false;
    this.lease.release();
  }

  settle(tokensUsed: number): void {
    this.lease.settle(tokensUsed);
  }
}

const leases = new WeakMap<object, HeldLease>();

export function holdLease(request: object, lease: HeldLease): void {
  leases.set(request, lease);
}

export function leaseOf(request: object): HeldLease | undefined {
  return leases.get(request);
}
