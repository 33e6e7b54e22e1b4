import { Injectable } from '@nestjs/common';
import { AttemptCounters, countAll, keyOf, type AttemptCounter } from './attempt-counters.js';

/** Enough to replace all keys of an account once. There is a limit because each key leaves a row, even when it is revoked. */
const BY_ACCOUNT = { name: 'key-creation:account', attempts: 100, withinSeconds: 3_600 };

/** Limits how many API keys the owner of an account creates in an hour. */
@Injectable()
export class KeyCreationLimit {
  private readonly byAccount: AttemptCounter;

  constructor(counters: AttemptCounters) {
    this.byAccount = counters.counter(BY_ACCOUNT);
  }

  /**
   * Runs `create`, and counts the call unless `create` throws.
   *
   * @throws {ServiceError} `rate_limit_exceeded` without running `create`; the errors of `create`.
   */
  async count<T>(accountId: string, create: () => Promise<T>): Promise<T> {
    const withdraw = await countAll(
      [[this.byAccount, keyOf(accountId)]],
      'This account created too many API keys. Try again later.',
    );
    try {
      return await create();
    } catch (error) {
      await withdraw();
      throw error;
    }
  }
}
