/**
 * Returns the recorded number of tokens that an account has used. Called once per day and account, when the counters do not
 * have a value yet. The class is the injection token.
 *
 * @experimental
 * @since 1.0
 */
export abstract class TokensUsed {
  /**
   * Returns the tokens of the prompts and answers of streams that began at `from` or later.
   *
   * @param key when given, only streams of this API key and of the keys that have replaced it.
   */
  abstract since(accountId: string, from: Date, key?: string): Promise<number>;
}

/** For a service that does not record tokens. */
export class NoTokensUsed extends TokensUsed {
  since(): Promise<number> {
    return Promise.resolve(0);
  }
}
