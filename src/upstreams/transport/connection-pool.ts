import { buildConnector, Client, type Dispatcher } from 'undici';
import type { Socket } from 'node:net';
import { realMs } from '../../platform/common/timers/pace.js';

/** The time to keep an idle connection to a provider. The provider can announce another time. */
const KEEP_ALIVE_MS = 15_000;

/** The maximum size of the headers of an answer, and of its trailers. */
const MAX_HEADER_BYTES = 16 * 1024;

/** A connection that serves one exchange at a time. */
export interface Connection {
  readonly client: Dispatcher;
  /** True when the connection has served an exchange before. The provider may have closed the connection since then. */
  readonly reused: boolean;
  /** Call this when the rest of the exchange is not needed. The pool may then close the connection to make room. */
  spare(): void;
  /** Call this when the exchange is over. */
  release(): void;
  /** Call this instead when undici uses the connection by itself. The pool takes it back when it has no more work. */
  lend(): void;
}

/**
 * Manages the connections to one origin. Each stream uses one connection until the stream ends. `UpstreamConnections`
 * limits the number of connections. The pool of undici is not used, because it does not show whether a connection is new.
 */
export class ConnectionPool {
  /** The last entry is the most recently used connection. The provider is least likely to have closed this connection. */
  private readonly idle: Client[] = [];
  private readonly spare = new Set<Client>();
  private readonly lent = new Set<Client>();
  private readonly all = new Set<Client>();

  constructor(
    private readonly origin: string,
    private readonly connectTimeoutMs: number,
  ) {}

  /** The number of connections that are open or being opened. */
  get size(): number {
    return this.all.size;
  }

  /** Returns a connection that has served an exchange before, if there is one. */
  reuse(): Connection | undefined {
    this.takeBack();
    const client = this.takeIdle();
    return client && this.connection(client, true);
  }

  open(): Connection {
    const client = new Client(this.origin, {
      pipelining: 1,
      connect: connectorOf(this.connectTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // An attempt has its own timers, because only the attempt can tell a sign of life from other data.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.all.add(client);
    const remove = (): void => {
      this.remove(client);
    };
    client.on('disconnect', remove).on('connectionError', remove);
    return this.connection(client, false);
  }

  /**
   * Closes a connection that no answer needs, first the connection with the longest idle time. Returns false if there is
   * none.
   */
  closeUnneeded(): boolean {
    this.takeBack();
    const [client = this.spare.values().next().value] = this.idle;
    if (client === undefined) return false;
    this.remove(client);
    return true;
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.all].map((client) => client.destroy()));
  }

  private connection(client: Client, reused: boolean): Connection {
    return {
      client,
      reused,
      spare: () => {
        if (this.all.has(client)) this.spare.add(client);
      },
      release: () => {
        this.spare.delete(client);
        // Do not keep a connection that has lost its socket in the meantime.
        if (this.all.has(client)) this.idle.push(client);
      },
      lend: () => {
        if (this.all.has(client)) this.lent.add(client);
        client.once('drain', this.takeBack);
      },
    };
  }

  /** undici says only in a later turn that a client has no more work. The pool also looks when it needs a connection. */
  private readonly takeBack = (): void => {
    for (const client of this.lent) {
      if (client.stats.size > 0) continue;
      this.lent.delete(client);
      this.idle.push(client);
    }
  };

  /**
   * Returns an idle client that is still connected. A client looks idle from the end of its socket until the pool is
   * notified.
   */
  private takeIdle(): Client | undefined {
    let client = this.idle.pop();
    while (client !== undefined && !client.stats.connected) {
      this.remove(client);
      client = this.idle.pop();
    }
    return client;
  }

  private remove(client: Client): void {
    this.all.delete(client);
    this.spare.delete(client);
    this.lent.delete(client);
    const index = this.idle.indexOf(client);
    if (index !== -1) this.idle.splice(index, 1);
    client.destroy().catch(() => undefined);
  }
}

function connectorOf(timeout: number): buildConnector.connector {
  const connect = buildConnector({ timeout: realMs(timeout) });
  return (options, callback) => {
    connect(options, (...[error, socket]) => {
      if (error !== null) callback(error, null);
      else {
        ignoreContinue(socket);
        callback(null, socket);
      }
    });
  };
}

/** Matches the beginning of a request, in the form in which undici writes it. */
const REQUEST = /^[A-Z]+ \//;
/** Matches a whole response `100 Continue`. */
const CONTINUE = /^HTTP\/1\.[01] 100(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n/;
const BEGINNINGS = ['HTTP/1.1 100', 'HTTP/1.0 100'];
const BEGINNING_LENGTH = Math.max(...BEGINNINGS.map(({ length }) => length));
/** The maximum number of bytes of all these responses together. */
const MAX_BYTES = 16 * 1024;

/**
 * Takes each `100 Continue` before a response out of the bytes of a connection. Some providers send it although the request has not asked
 * for it, and RFC 9110 (section 15.2) allows that. undici up to 8.13 closes the connection then; it reads the other interim responses.
 */
function ignoreContinue(socket: Socket): void {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...written: unknown[]) => boolean;
  let isBeforeResponse = false;
  let held = '';
  let ignoredBytes = 0;

  socket.write = (...written: unknown[]): boolean => {
    const [piece] = written;
    if (typeof piece === 'string' && REQUEST.test(piece)) {
      isBeforeResponse = true;
      ignoredBytes = 0;
    }
    return write(...written);
  };
  socket.read = (size?: number): unknown => {
    const piece = read(size) as Buffer | null;
    if (!isBeforeResponse || piece === null) return piece;
    if (held === '' && !mayBeContinue(piece.toString('latin1', 0, BEGINNING_LENGTH))) {
      isBeforeResponse = false;
      return piece;
    }
    held += piece.toString('latin1');
    for (let found = CONTINUE.exec(held); found !== null && ignoredBytes < MAX_BYTES; found = CONTINUE.exec(held)) {
      ignoredBytes += found[0].length;
      held = held.slice(found[0].length);
    }
    if (mayBeContinue(held) && ignoredBytes + held.length < MAX_BYTES) return null;
    isBeforeResponse = false;
    const rest = Buffer.from(held, 'latin1');
    held = '';
    return rest;
  };
}

/** Whether the bytes are empty, or the beginning of `100 Continue`. */
function mayBeContinue(bytes: string): boolean {
  return BEGINNINGS.some((beginning) =>
    bytes.length < beginning.length ? beginning.startsWith(bytes) : bytes.startsWith(beginning),
  );
}
