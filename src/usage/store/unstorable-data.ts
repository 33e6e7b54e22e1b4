/**
 * A {@link UsageStore} throws this error for data that it can never store. The ledger then keeps the invalid record as a dead letter.
 * Every other error of a store counts as an outage: the ledger waits and retries.
 *
 * @experimental
 * @since 1.0
 */
export class UnstorableData extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnstorableData';
  }
}
