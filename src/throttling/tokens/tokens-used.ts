/**
 * What is written down of the tokens that accounts have used. Asked once a day and account, when the counters know nothing
 * yet. The class is the injection token; see `ThrottlingOptions.tokensUsed`.
 */
export abstract class TokensUsed {
  abstract since(accountId: string, from: Date): Promise<number>;
}

/** Where nothing is written down. */
export class NoTokensUsed extends TokensUsed {
  since(): Promise<number> {
    return Promise.resolve(0);
  }
}
