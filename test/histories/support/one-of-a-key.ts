import { hold } from '../../support/invariants.js';

/** A stream or a complete answer of an idempotency key. */
export interface OfKey {
  readonly name: string;
  readonly key: string;
  readonly beganAtMs: number;
  /** A Redis that is emptied from this time on has forgotten it. */
  readonly forgottenFrom: number;
}

/**
 * Checks that no key has two of them, unless Redis was emptied after the first one and before the second one.
 *
 * @throws {Violation} when a key has two.
 */
export function checkOneOfAKey(what: string, all: readonly OfKey[], emptiedAt: readonly number[]): void {
  const latest = new Map<string, OfKey>();
  for (const next of [...all].sort((one, other) => one.beganAtMs - other.beganAtMs)) {
    const before = latest.get(next.key);
    latest.set(next.key, next);
    if (before === undefined) continue;
    const isForgotten = emptiedAt.some((at) => before.forgottenFrom <= at && at <= next.beganAtMs);
    hold('one call a key', isForgotten, () => `${next.key} has two ${what}: ${JSON.stringify([before, next])}`);
  }
}
