import pg from 'pg';

const READ_TIMEOUT = 'Query read timeout';

/**
 * A connection that closes itself after the first query without a reply in time.
 *
 * If the server or the network fails without closing the connection, the connection would otherwise return to the pool.
 * Every later query on the connection would wait in vain again. Test: "ends after a query without a reply in time, whose
 * caller gets the error".
 */
export class ClientWithQueryTimeout extends pg.Client {
  // `query` has many overloads. All overloads that the users of the pool call return a promise.
  override query = ((...parameters: [string]) => {
    const reply: unknown = super.query(...parameters);
    if (reply instanceof Promise) {
      reply.catch((error: unknown) => {
        this.endAfter(error);
      });
    }
    return reply;
  }) as pg.Client['query'];

  private endAfter(error: unknown): void {
    if (error instanceof Error && error.message === READ_TIMEOUT) this.end().catch(() => undefined);
  }
}
