import pg from 'pg';

const READ_TIMEOUT = 'Query read timeout';

/**
 * A connection that closes itself after the first query without an answer in time.
 *
 * If the server or the network fails without closing the connection, the connection would otherwise return to the pool.
 * Every later query on the connection would wait in vain again.
 */
export class ImpatientClient extends pg.Client {
  // `query` has many overloads. All overloads that the users of the pool call return a promise.
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
