import pg from 'pg';
import { within } from '../../common/timers/within.js';

/** How long the server may take to let a new connection in. */
const DIAL_MS = 1000;

/** The server, or the network before it, gave no answer in time. */
export class NoAnswer extends Error {
  constructor() {
    super('no answer in time');
    this.name = 'NoAnswer';
  }
}

/** A connection to PostgreSQL that carries nothing but the question whether the server answers. */
export class ProbeConnection {
  private constructor(private readonly client: pg.Client) {}

  /**
   * @param onLost called once, when the connection ends without {@link close}.
   * @throws {NoAnswer} or what the operating system or the server says.
   */
  static async dial(url: string, onLost: (lost: ProbeConnection) => void): Promise<ProbeConnection> {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'chat-streaming-service probe',
      keepAlive: true,
    });
    const connection = new ProbeConnection(client);
    // Every failure ends the connection as well, and `end` tells of that.
    client.on('error', () => undefined);
    try {
      await within(client.connect(), DIAL_MS, () => new NoAnswer());
    } catch (error) {
      connection.close();
      throw error;
    }
    client.once('end', () => {
      onLost(connection);
    });
    return connection;
  }

  /** Resolves when the server answers. */
  async ask(): Promise<void> {
    await this.client.query('SELECT 1');
  }

  /** Ends the connection without waiting for the server, which may be gone. */
  close(): void {
    this.client.removeAllListeners('end');
    this.client.connection.stream.destroy();
  }
}
