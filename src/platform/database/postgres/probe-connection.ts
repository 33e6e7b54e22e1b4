import pg from 'pg';
import { withTimeout } from '../../common/timers/timeouts.js';

/** How long the server may take to accept a new connection. */
const DIAL_MS = 1000;
/** A connection that is accepted within this time more shows that the server is slow. */
const LATE_MS = 5000;

/** The server or the network did not reply in time. */
export class ProbeTimeout extends Error {
  constructor() {
    super('no reply in time');
    this.name = 'ProbeTimeout';
  }
}

/** A connection to PostgreSQL that is used only to check whether the server replies. */
export class ProbeConnection {
  isLost = false;

  private constructor(private readonly client: pg.Client) {}

  /**
   * Opens a connection.
   *
   * @param onLost called once, if the connection ends without a call of {@link close}.
   * @param onLate called if the server accepts the connection after this method has thrown {@link ProbeTimeout}.
   * @throws {ProbeTimeout} if the server does not reply in time. Otherwise, the error of the operating system or of the
   *   server.
   */
  static async dial(
    url: string,
    onLost: (lost: ProbeConnection) => void,
    onLate: () => void = () => undefined,
  ): Promise<ProbeConnection> {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'chat-streaming-service probe',
      keepAlive: true,
    });
    const connection = new ProbeConnection(client);
    // Every failure also ends the connection, and `end` reports it.
    client.on('error', () => undefined);
    const connected = client.connect();
    try {
      await withTimeout(connected, DIAL_MS, () => new ProbeTimeout());
    } catch (error) {
      if (error instanceof ProbeTimeout) void connection.closeLate(connected, onLate);
      else connection.close();
      throw error;
    }
    client.once('end', () => {
      connection.isLost = true;
      onLost(connection);
    });
    return connection;
  }

  /** Resolves when the server replies. */
  async ping(): Promise<void> {
    await this.client.query('SELECT 1');
  }

  /**
   * Takes an advisory lock that lasts as long as the connection. Behind a pooler, the lock would belong to a connection that
   * other clients share. Therefore the server takes it only if the number of its process is the number that this client knows.
   *
   * @returns whether the server has taken the lock.
   */
  async lock(space: number, key: number): Promise<boolean> {
    const { processID } = this.client as unknown as { readonly processID: number | null };
    const { rows } = await this.client.query<{ taken: boolean | null }>(
      'SELECT CASE WHEN pg_backend_pid() = $1 THEN pg_try_advisory_lock($2, $3) END AS taken',
      [processID, space, key],
    );
    return rows[0]?.taken === true;
  }

  private async closeLate(connected: Promise<unknown>, onLate: () => void): Promise<void> {
    const isAccepted = await withTimeout(connected, LATE_MS, () => new ProbeTimeout()).then(
      () => true,
      () => false,
    );
    this.close();
    if (isAccepted) onLate();
  }

  /** Closes the connection without waiting for the server, because the server may be unavailable. */
  close(): void {
    this.isLost = true;
    this.client.removeAllListeners('end');
    this.client.connection.stream.destroy();
  }
}
