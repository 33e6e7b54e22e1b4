import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Request } from 'express';
import { ShedLoad } from '../../common/shed-load.js';
import { elapsedMs, startInterval } from '../../common/timers/pace.js';
import { CONFIG, type Config } from '../../config/config.js';
import { BodyClients } from '../body/bodies-in-flight.js';
import type { ClientConnection } from './client-connection.js';
import { ClientConnections } from './client-connections.js';
import type { ServerResponse } from 'node:http';

const limited = new WeakSet<ServerResponse>();

/**
 * Marks a response whose sender limits how long the client may stop reading. Streams have a longer limit than other
 * responses.
 */
export function limitsItsReader(response: ServerResponse): void {
  limited.add(response);
}

/** Whether {@link limitsItsReader} was called for the response. */
function isReaderLimited(response: ServerResponse): boolean {
  return limited.has(response);
}

const CHECK_EVERY_MS = 1_000;
/** A client that reads at least this many bytes within the time limit counts as slow, but reading. */
const MIN_TAKEN_BYTES = 64 * 1024;
/**
 * The maximum size of all unread responses together. Above it, responses are cut before their time limit: those of the client
 * with the most unread bytes, the oldest first.
 */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** A response that the client has not read completely. The unread part is in the memory of this process. */
interface UnreadResponse {
  readonly connection: ClientConnection;
  readonly since: number;
  /** The number of bytes that had left the process at `since`. */
  readonly takenBytes: number;
  readonly unreadBytes: number;
}

interface UnreadOfClient {
  bytes: number;
  /** The oldest first. */
  readonly responses: UnreadResponse[];
}

/**
 * Cuts connections whose client does not read its response, so that the response does not occupy memory. Streams have their own
 * limit (STALLED_READER_SECONDS). The check runs once a second and adds no cost to requests.
 */
@Injectable()
export class UnreadResponses implements OnApplicationBootstrap, OnApplicationShutdown {
  private unread = new Map<object, UnreadResponse>();
  private readonly limitMs: number;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(CONFIG) { unreadResponseMs }: Config,
    private readonly connections: ClientConnections,
    private readonly clients: BodyClients,
    private readonly shedLoad: ShedLoad,
  ) {
    this.limitMs = unreadResponseMs;
  }

  onApplicationBootstrap(): void {
    this.timer = startInterval(() => {
      this.check();
    }, CHECK_EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private check(): void {
    const before = this.unread;
    this.unread = new Map();
    let unreadBytes = 0;
    for (const connection of this.connections.all()) {
      const { response, socket } = connection;
      if (response === undefined || socket.writableLength === 0 || isReaderLimited(response)) continue;
      const state = this.observe(connection, before.get(response));
      if (elapsedMs() - state.since > this.limitMs) {
        this.cut(state);
        continue;
      }
      this.unread.set(response, state);
      unreadBytes += state.unreadBytes;
    }
    if (unreadBytes > MAX_UNREAD_BYTES) this.makeRoom(unreadBytes);
  }

  /** Returns the current state of the response. Its time starts again each time the client has read enough bytes. */
  private observe(connection: ClientConnection, before: UnreadResponse | undefined): UnreadResponse {
    const { socket } = connection;
    const unreadBytes = socket.writableLength;
    const takenBytes = socket.bytesWritten - unreadBytes;
    const isRead = before === undefined || takenBytes - before.takenBytes >= MIN_TAKEN_BYTES;
    return isRead ? { connection, since: elapsedMs(), takenBytes, unreadBytes } : { ...before, unreadBytes };
  }

  private makeRoom(unreadBytes: number): void {
    let left = unreadBytes;
    const byClient = [...this.unreadByClient().values()];
    while (left > MAX_UNREAD_BYTES) {
      const greediest = byClient.reduce((one, other) => (other.bytes > one.bytes ? other : one));
      const oldest = greediest.responses.shift();
      if (oldest === undefined) return;
      this.cut(oldest);
      greediest.bytes -= oldest.unreadBytes;
      left -= oldest.unreadBytes;
    }
  }

  /** Returns the unread responses of each account, or of each network without an account. The oldest come first. */
  private unreadByClient(): ReadonlyMap<string, UnreadOfClient> {
    const byClient = new Map<string, UnreadOfClient>();
    for (const response of [...this.unread.values()].sort((a, b) => a.since - b.since)) {
      const key = this.clientOf(response);
      const client = byClient.get(key) ?? { bytes: 0, responses: [] };
      client.bytes += response.unreadBytes;
      client.responses.push(response);
      byClient.set(key, client);
    }
    return byClient;
  }

  /** A request that has not reached Express has no client yet. */
  private clientOf({ connection: { response } }: UnreadResponse): string {
    const request = response?.req as Request | undefined;
    return request?.context === undefined ? '' : this.clients.clientOf(request).key;
  }

  /** Resets the connection. Without a reset, the operating system would keep the data that it has not sent. */
  private cut({ connection: { socket } }: UnreadResponse): void {
    this.shedLoad.count('unread_answer');
    socket.resetAndDestroy();
  }
}
