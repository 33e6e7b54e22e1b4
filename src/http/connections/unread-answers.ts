import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ShedLoad } from '../../common/shed-load.js';
import { CONFIG, type Config } from '../../config/config.js';
import type { ClientConnection } from './client-connection.js';
import { ClientConnections } from './client-connections.js';
import { isReaderLimited } from './reader-limit.js';

const LOOK_EVERY_MS = 1_000;
/** A client that reads at least this many bytes within the time limit counts as slow, but reading. */
const LEAST_TAKEN_BYTES = 64 * 1024;
/** The maximum size of all unread answers together. Above it, the oldest unread answers are cut before their time limit. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** An answer that the client has not read completely. The unread part is in the memory of this process. */
interface UnreadAnswer {
  readonly connection: ClientConnection;
  readonly since: number;
  /** The number of bytes that had left the process at `since`. */
  readonly takenBytes: number;
  readonly unreadBytes: number;
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
    if (unreadBytes > MAX_UNREAD_BYTES) this.cutOldest(unreadBytes - MAX_UNREAD_BYTES);
  }

  /** Returns the current state of the answer. Its time starts again each time the client has read enough bytes. */
  private note(connection: ClientConnection, before: UnreadAnswer | undefined): UnreadAnswer {
    const { socket } = connection;
    const unreadBytes = socket.writableLength;
    const takenBytes = socket.bytesWritten - unreadBytes;
    const isRead = before === undefined || takenBytes - before.takenBytes >= LEAST_TAKEN_BYTES;
    return isRead ? { connection, since: performance.now(), takenBytes, unreadBytes } : { ...before, unreadBytes };
  }

  private cutOldest(excessBytes: number): void {
    let excess = excessBytes;
    const oldestFirst = [...this.unread.values()].sort((a, b) => a.since - b.since);
    for (const answer of oldestFirst) {
      if (excess <= 0) return;
      this.cut(answer);
      excess -= answer.unreadBytes;
    }
  }

  /** Resets the connection. Without a reset, the operating system would keep the data that it has not sent. */
  private cut({ connection: { socket } }: UnreadAnswer): void {
    this.shedLoad.note('unread_answer');
    socket.resetAndDestroy();
  }
}
