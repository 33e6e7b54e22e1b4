import type { Request } from 'express';

/** Whom the bodies of a request are counted against: an account, or a network where there is no account. */
export interface BodyParty {
  /** The same for all requests of the party, and of no other party. */
  readonly key: string;
  /** Bodies of the party that may be arriving at the same time. */
  readonly mostArriving: number;
  /** Bytes of bodies that may be held for the party. */
  readonly mostBytes: number;
}

/** Tells whose a request is. The class is the injection token. */
export abstract class BodyParties {
  abstract partyOf(request: Request): BodyParty;
}
