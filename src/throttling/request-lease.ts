import type { Response } from 'express';
import type { ServiceError } from '../platform/common/service-error.js';
import type { Lease } from './limit-store.js';
import type { StreamSlots } from './process-load/stream-slots.js';

/** What the limits do for a request that they have admitted. */
interface AdmittedUse {
  /** Gives the request back, because it was refused before any of its completions has begun. */
  giveBack(): Promise<void>;
  /**
   * Returns the error for a completion that needs more tokens than the request has left.
   *
   * @returns `undefined` if the limits have granted all that the request has asked for.
   */
  shortage(needed: number): ServiceError | undefined;
}

/** The lease of one completion of a request. */
interface LeasePart extends Lease {
  shortage: AdmittedUse['shortage'];
  takeOver(): void;
  part(): LeasePart;
}

/** A lease that ends with its `release`, and not with the response. */
export type OutlivingLease = LeasePart & Pick<RequestLease, 'giveBack'>;

/**
 * The lease of an admitted request. The request keeps its slot until its response is over. Then the reserved tokens are replaced by
 * the sum of the tokens of all its completions.
 *
 * @since 1.0
 */
export class RequestLease implements Lease {
  /** The tokens of the completions that are over. */
  private used = 0;
  /** The completions that run. */
  private running = 0;
  private isOver = false;
  private isOutlived = false;
  private hasBegun = false;
  private holdsSlot: boolean;

  constructor(
    private readonly lease: Lease,
    response: Response | undefined,
    private readonly slots: Pick<StreamSlots, 'takenInTiers'>,
    holdsSlot: boolean,
    private readonly admitted: AdmittedUse,
  ) {
    this.holdsSlot = holdsSlot;
    if (holdsSlot) slots.takenInTiers++;
    const end = (): void => {
      if (!this.isOutlived) this.end();
    };
    if (response?.closed === true) end();
    else response?.once('close', end);
  }

  /** The reserved tokens that no completion has used so far. */
  get tokens(): number | undefined {
    const { tokens } = this.lease;
    return tokens === undefined ? undefined : Math.max(0, tokens - this.used);
  }

  /** Keeps the slot and the tokens when the response is over, until the returned lease is released. */
  outlive(): OutlivingLease {
    this.isOutlived = true;
    return Object.assign(this.part(), {
      giveBack: () => this.giveBack(),
      release: () => {
        this.end();
      },
    });
  }

  /** Returns the same tokens for one more completion of the request. Its `release` has no effect. */
  part(): LeasePart {
    const tokensLeft = (): number | undefined => this.tokens;
    return {
      get tokens() {
        return tokensLeft();
      },
      shortage: (needed) => this.shortage(needed),
      takeOver: () => {
        this.takeOver();
      },
      part: () => this.part(),
      release: () => undefined,
      settle: (tokensUsed) => {
        this.settle(tokensUsed);
      },
    };
  }

  shortage(needed: number): ServiceError | undefined {
    return this.admitted.shortage(needed);
  }

  /** A completion begins. After this call, the caller must call {@link settle}, regardless of how the completion ends. */
  takeOver(): void {
    this.running += 1;
    this.hasBegun = true;
  }

  /** Does not count the request, because it was refused before any of its completions has begun. */
  async giveBack(): Promise<void> {
    if (this.hasBegun) return;
    this.hasBegun = true;
    await this.admitted.giveBack();
  }

  /** Has no effect: the request keeps its slot until its response is over. */
  release(): void {
    // The listener in the constructor ends the lease.
  }

  /** Adds the tokens of a completion that has begun. Before that, the tokens belong to the request. */
  settle(tokensUsed: number): void {
    if (this.running === 0) return;
    this.running -= 1;
    this.used += tokensUsed;
    this.settleAll();
  }

  private end(): void {
    this.isOver = true;
    if (this.holdsSlot) this.slots.takenInTiers--;
    this.holdsSlot = false;
    this.lease.release();
    this.settleAll();
  }

  private settleAll(): void {
    if (this.isOver && this.running === 0) this.lease.settle(this.used);
  }
}
