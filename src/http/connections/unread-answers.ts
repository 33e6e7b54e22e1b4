import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Request } from 'express';
import { ShedLoad } from '../../common/shed-load.js';
import { CONFIG, type Config } from '../../config/config.js';
import { BodyClients } from '../body/body-clients.js';
import type { ClientConnection } from './client-connection.js';
import { ClientConnections } from './client-connections.js';
import { isReaderLimited } from './reader-limit.js';

const LOOK_EVERY_MS = 1_000;
/** A client that reads at least this many bytes within the time limit counts as slow, but reading. */
const MIN_TAKEN_BYTES = 64 * 1024;
/**
 * The maximum size of all unread answers together. Above it, answers are cut before their time limit: those of the client
 * with the most unread bytes, the oldest first.
 */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** An answer that the client has not read completely. The unread part is in the memory of this process. */
interface UnreadAnswer {
  readonly connection: ClientConnection;
  readonly since: number;
  /** The number of bytes that had left the process at `since`. */
  readonly takenBytes: number;
  readonly unreadBytes: number;
}

interface UnreadOfClient {
  bytes: number;
  /** The oldest first. */
  readonly answers: UnreadAnswer[];
}

/**
 * Cuts connections whose client does not read its answer, so that the answer does not occupy memory. Streams have their own
 * limit (STALLED_READER_SECONDS). The check runs once a second and adds no cost to requests.
 */
@Injectable()
export class UnreadAnswers implements OnApplicationBootstrap, OnApplicationShutdown {
  private unread = new Map<object, UnreadAnswer>();
  private readonly limitMs: number;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(CONFIG) { unreadAnswerMs }: Config,
    private readonly connections: ClientConnections,
    private readonly clients: BodyClients,
    private readonly shedLoad: ShedLoad,
  ) {
    this.limitMs = unreadAnswerMs;
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.look();
    }, LOOK_EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    const before = this.unread;
    this.unread = new Map();
    let unreadBytes = 0;
    for (const connection of this.connections.all()) {
      const { response, socket } = connection;
      if (response === undefined || socket.writableLength === 0 || isReaderLimited(response)) continue;
      const answer = this.note(connection, before.get(response));
      if (performance.now() - answer.since > this.limitMs) {
        this.cut(answer);
        continue;
      }
      this.unread.set(response, answer);
      unreadBytes += answer.unreadBytes;
    }
    if (unreadBytes > MAX_UNREAD_BYTES) this.makeRoom(unreadBytes);
  }

  /** Returns the current state of the answer. Its time starts again each time the client has read enough bytes. */
  private note(connection: ClientConnection, before: UnreadAnswer | undefined): UnreadAnswer {
    const { socket } = connection;
    const unreadBytes = socket.writableLength;
    const takenBytes = socket.bytesWritten - unreadBytes;
    const isRead = before === undefined || takenBytes - before.takenBytes >= MIN_TAKEN_BYTES;
    return isRead ? { connection, since: performance.now(), takenBytes, unreadBytes } : { ...before, unreadBytes };
  }

  private makeRoom(unreadBytes: number): void {
    let left = unreadBytes;
    const byClient = [...this.unreadByClient().values()];
    while (left > MAX_UNREAD_BYTES) {
      const greediest = byClient.reduce((one, other) => (other.bytes > one.bytes ? other : one));
      const oldest = greediest.answers.shift();
      if (oldest === undefined) return;
      this.cut(oldest);
      greediest.bytes -= oldest.unreadBytes;
      left -= oldest.unreadBytes;
    }
  }

  /** Returns the unread answers of each account, or of each network without an account. The oldest come first. */
  private unreadByClient(): ReadonlyMap<string, UnreadOfClient> {
    const byClient = new Map<string, UnreadOfClient>();
    for (const answer of [...this.unread.values()].sort((a, b) => a.since - b.since)) {
      const key = this.clientOf(answer);
      const client = byClient.get(key) ?? { bytes: 0, answers: [] };
      client.bytes += answer.unreadBytes;
      client.answers.push(answer);
      byClient.set(key, client);
    }
    return byClient;
  }

  /** A request that has not reached Express has no client yet. */
  private clientOf({ connection: { response } }: UnreadAnswer): string {
    const request = response?.req as Request | undefined;
    return request?.context === undefined ? '' : this.clients.clientOf(request).key;
  }

  /** Resets the connection. Without a reset, the operating system would keep the data that it has not sent. */
  private cut({ connection: { socket } }: UnreadAnswer): void {
    this.shedLoad.count('unread_answer');
    socket.resetAndDestroy();
  }
}
