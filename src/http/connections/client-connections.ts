import { Inject, Injectable } from '@nestjs/common';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { noteAccepted } from '../../common/event-loop/event-loop-turns.js';
import { ShedLoad } from '../../common/shed-load.js';
import { CONFIG, type Config } from '../../config/config.js';
import { ClientConnection, type RequestHandler } from './client-connection.js';

/** A connection without a request that is younger than this is closed only if there is nothing else to close. */
const GRACE_MS = 1_000;
/** After a search that found nothing to close, the next one waits this long. */
const SEARCH_EVERY_MS = 100;

/**
 * The connections of all clients. Above the limit, a new connection takes the place of the one that has waited longest for
 * its client, so that connections that do nothing keep no client out: a probe of `/health` gets through. A connection whose
 * request is being worked on is never closed.
 */
@Injectable()
export class ClientConnections {
  private readonly open = new Map<Socket, ClientConnection>();
  /** Without a request, the longest idle first. */
  private readonly idle = new Set<ClientConnection>();
  private readonly limit: number;
  private searchedInVainAt = -SEARCH_EVERY_MS;

  constructor(
    @Inject(CONFIG) { maxConnections }: Config,
    private readonly shedLoad: ShedLoad,
  ) {
    this.limit = maxConnections;
  }

  get count(): number {
    return this.open.size;
  }

  all(): Iterable<ClientConnection> {
    return this.open.values();
  }

  of(socket: Socket): ClientConnection | undefined {
    return this.open.get(socket);
  }

  /** Counts the connections of `server`, which must not listen yet. */
  watch(server: Server): void {
    server.on('connection', (socket) => {
      noteAccepted();
      const connection = new ClientConnection(socket, this.idle, this.shedLoad);
      this.open.set(socket, connection);
      socket.once('close', () => {
        this.forget(connection);
      });
      if (this.open.size > this.limit) this.makeRoom(connection);
    });
  }

  /** Has `handle` handle the request when its turn comes. */
  take(request: IncomingMessage, response: ServerResponse, handle: RequestHandler): void {
    this.open.get(request.socket)?.take(request, response, handle);
  }

  private makeRoom(newcomer: ClientConnection): void {
    const [longestIdle = newcomer] = this.idle;
    const isOld = performance.now() - longestIdle.idleSince > GRACE_MS;
    const closed = isOld ? longestIdle : (this.stuck() ?? longestIdle);
    this.shedLoad.note('connections');
    // Not only at its `close`, which comes later than further connections may.
    this.forget(closed);
    closed.socket.destroy();
  }

  /** The oldest connection whose client does not send the rest of its request, or does not read its answer. */
  private stuck(): ClientConnection | undefined {
    const now = performance.now();
    if (now - this.searchedInVainAt < SEARCH_EVERY_MS) return undefined;
    for (const connection of this.open.values()) {
      if (connection.response !== undefined && connection.isWaitingForClient) return connection;
    }
    this.searchedInVainAt = now;
    return undefined;
  }

  private forget(connection: ClientConnection): void {
    this.open.delete(connection.socket);
    this.idle.delete(connection);
  }
}
