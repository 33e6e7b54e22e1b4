import type { Lease, Limit } from './limit-store.js';

/** What the limits of an account, or of one of its keys, hold for a request. */
export type LeasePart = Pick<Lease, 'release' | 'settle'>;

/** Returns the lease of a request of these parts. */
export function joinedLease(tokens: number | undefined, parts: readonly LeasePart[]): Lease {
  return {
    tokens,
    release: () => {
      for (const part of parts) part.release();
    },
    settle: (tokensUsed) => {
      for (const part of parts) part.settle(tokensUsed);
    },
  };
}

/** Returns how many of the granted tokens the limits reserve. `undefined`: no limit counts tokens. */
export function reservedBy(limits: readonly Limit[], granted: number | undefined): number | undefined {
  return limits.some(({ unit }) => unit === 'tokens') ? granted : undefined;
}
