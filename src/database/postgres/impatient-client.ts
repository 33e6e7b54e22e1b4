import pg from 'pg';

const READ_TIMEOUT = 'Query read timeout';

/**
 * A connection that ends with the first query that gets no answer in time. Where the server or the network is gone without
 * a word, it would else go back into the pool, and every query on it wait in vain again.
 */
export class ImpatientClient extends pg.Client {
  // The signatures are many; all that the pool's users call return a promise.
  override query = ((...parameters: [string]) => {
    const answer: unknown = super.query(...parameters);
    if (answer instanceof Promise) {
      answer.catch((error: unknown) => {
        this.endAfter(error);
      });
    }
    return answer;
  }) as pg.Client['query'];

  private endAfter(error: unknown): void {
    if (error instanceof Error && error.message === READ_TIMEOUT) this.end().catch(() => undefined);
  }
}
