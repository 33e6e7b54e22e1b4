import { Inject, Injectable } from '@nestjs/common';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { recordAccepted } from '../../common/event-loop/event-loop-turns.js';
import { ShedLoad } from '../../common/shed-load.js';
import { elapsedMs } from '../../common/timers/pace.js';
import { CONFIG, type Config } from '../../config/config.js';
import { ClientConnection, type RequestHandler } from './client-connection.js';

/** A connection without a request that is younger than this is closed only if no other connection can be closed. */
const GRACE_MS = 1_000;
/** The minimum time between a search that found no connection to close and the next search. */
const SEARCH_EVERY_MS = 100;

/**
 * The connections of all clients.
 *
 * Above the limit, a new connection replaces the connection that has waited longest for its client. So idle connections
 * cannot keep other clients out, and a `/health` probe still gets through. The service never closes a connection while it
 * works on its request.
 */
@Injectable()
export class ClientConnections {
  private readonly open = new Map<Socket, ClientConnection>();
  /** The connections without a request, longest idle first. */
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

  /** Counts the connections of `server`. The server must not listen yet. */
  watch(server: Server): void {
    server.on('connection', (socket) => {
      recordAccepted();
      const connection = new ClientConnection(socket, this.idle, this.shedLoad);
      this.open.set(socket, connection);
      socket.once('close', () => {
        this.remove(connection);
      });
      if (this.open.size > this.limit) this.makeRoom(connection);
    });
  }

  /** Passes the request to `handle` when it is the turn of the request. */
  take(request: IncomingMessage, response: ServerResponse, handle: RequestHandler): void {
    this.open.get(request.socket)?.take(request, response, handle);
  }

  private makeRoom(newcomer: ClientConnection): void {
    const [longestIdle = newcomer] = this.idle;
    const isOld = elapsedMs() - longestIdle.idleSince > GRACE_MS;
    const closed = isOld ? longestIdle : (this.stuck() ?? longestIdle);
    this.shedLoad.count('connections');
    // Removes the connection now, because more connections may arrive before its `close` event.
    this.remove(closed);
    closed.socket.destroy();
  }

  /** Finds the oldest connection whose client does not send the rest of its request, or does not read its response. */
  private stuck(): ClientConnection | undefined {
    const now = elapsedMs();
    if (now - this.searchedInVainAt < SEARCH_EVERY_MS) return undefined;
    for (const connection of this.open.values()) {
      if (connection.response !== undefined && connection.isWaitingForClient) return connection;
    }
    this.searchedInVainAt = now;
    return undefined;
  }

  private remove(connection: ClientConnection): void {
    this.open.delete(connection.socket);
    this.idle.delete(connection);
  }
}
