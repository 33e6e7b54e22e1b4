import type { Response } from 'express';
import type { Lease } from './limit-store.js';
import type { StreamPlaces } from './process-load/stream-places.js';

declare module '../http/request/request-context.js' {
  interface RequestContext {
    /** The lease of an admitted request. A request without limits has no lease. */
    lease?: RequestLease;
  }
}

/**
 * The lease of an admitted request. When the response is over, the lease gives its place back. It also gives all reserved
 * tokens back, unless a caller has taken over the lease to settle the tokens itself.
 */
export class RequestLease implements Lease {
  private isTaken = false;
  private isOutlived = false;
  private holdsPlace: boolean;

  constructor(
    private readonly lease: Lease,
    response: Response,
    private readonly places: Pick<StreamPlaces, 'heldInTiers'>,
    holdsPlace: boolean,
  ) {
    this.holdsPlace = holdsPlace;
    if (holdsPlace) places.heldInTiers++;
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

  /**
   * Keeps the place and the tokens when the response is over. The caller must then release and settle the returned lease.
   */
  outlive(): Lease {
    this.isTaken = true;
    this.isOutlived = true;
    return {
      tokens: this.tokens,
      release: () => {
        this.giveBack();
      },
      settle: (tokensUsed) => {
        this.settle(tokensUsed);
      },
    };
  }

  /** After this call, the caller must call {@link settle}, regardless of how the stream ends. */
  takeOver(): void {
    this.isTaken = true;
  }

  release(): void {
    if (!this.isOutlived) this.giveBack();
  }

  settle(tokensUsed: number): void {
    this.lease.settle(tokensUsed);
  }

  private giveBack(): void {
    if (this.holdsPlace) this.places.heldInTiers--;
    this.holdsPlace = false;
    this.lease.release();
  }
}
