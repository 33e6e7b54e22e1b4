/** A place among the streams that an account may run at once. */
export interface StreamSlot {
  /** Gives the place back. Harmless when called again. */
  release(): void;
}

/** Where the open streams of each account are counted. The class is the injection token. */
export abstract class StreamSlots {
  /** A slot, or `undefined` when the account holds `limit` of them already. */
  abstract acquire(accountId: string, limit: number): Promise<StreamSlot | undefined>;
}
