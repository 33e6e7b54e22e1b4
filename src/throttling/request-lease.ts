import type { Response } from 'express';
import type { Lease } from './limit-store.js';
import type { StreamSlots } from './process-load/stream-slots.js';

declare module '../http/request/request-context.js' {
  interface RequestContext {
    /** The lease of an admitted request. A request without limits has no lease. */
    lease?: RequestLease;
  }
}

/**
 * The lease of an admitted request. The request keeps its slot until its response is over. All reserved tokens are then
 * released, unless a caller has taken over the lease to settle the tokens itself.
 *
 * @since 1.0
 */
export class RequestLease implements Lease {
  private isTaken = false;
  private isOutlived = false;
  private holdsSlot: boolean;

  constructor(
    private readonly lease: Lease,
    response: Response,
    private readonly slots: Pick<StreamSlots, 'takenInTiers'>,
    holdsSlot: boolean,
  ) {
    this.holdsSlot = holdsSlot;
    if (holdsSlot) slots.takenInTiers++;
    const end = (): void => {
      if (!this.isOutlived) this.releaseSlot();
      if (!this.isTaken) lease.settle(0);
    };
    if (response.closed) end();
    else response.once('close', end);
  }

  get tokens(): number | undefined {
    return this.lease.tokens;
  }

  /**
   * Keeps the slot and the tokens when the response is over. The caller must then release and settle the returned lease.
   */
  outlive(): Lease {
    this.isTaken = true;
    this.isOutlived = true;
    return {
      tokens: this.tokens,
      release: () => {
        this.releaseSlot();
      },
      settle: (tokensUsed) => {
        this.lease.settle(tokensUsed);
      },
    };
  }

  /** After this call, the caller must call {@link settle}, regardless of how the stream ends. */
  takeOver(): void {
    this.isTaken = true;
  }

  /** Has no effect: the request keeps its slot until its response is over. */
  release(): void {
    // The listener in the constructor releases the slot.
  }

  /** Settles the tokens of a lease that was taken over. Before that, the tokens belong to the request. */
  settle(tokensUsed: number): void {
    if (this.isTaken) this.lease.settle(tokensUsed);
  }

  private releaseSlot(): void {
    if (this.holdsSlot) this.slots.takenInTiers--;
    this.holdsSlot = false;
    this.lease.release();
  }
}
