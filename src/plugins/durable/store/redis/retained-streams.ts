import { elapsedMs } from '../../../../plugin-api/core/common.js';
import type { ClaimedStream } from './redis-stream-tools.js';

/** The memory of a stream in Redis without its text. */
const STREAM_BYTES = 1024;

interface RetainedStream {
  readonly claimed: ClaimedStream;
  readonly bytes: number;
  readonly expiresAt: number;
}

interface Account {
  bytes: number;
  /** The oldest first. */
  readonly streams: Set<RetainedStream>;
}

/**
 * Limits what Redis keeps of the ended streams that this replica has generated: STREAM_MEMORY_MB for each account. Above
 * the limit, the stream of the account that ended first is dropped.
 */
export class RetainedStreams {
  /** All streams, the oldest first. */
  private readonly all = new Set<RetainedStream>();
  private readonly accounts = new Map<string, Account>();

  /** @param drop deletes a stream in Redis. */
  constructor(
    private readonly limitBytes: number,
    private readonly retentionMs: number,
    private readonly drop: (claimed: ClaimedStream) => void,
  ) {}

  /** Adds a stream that has ended, with the size of its text. */
  add(claimed: ClaimedStream, textBytes: number): void {
    this.removeExpired();
    const retained = { claimed, bytes: STREAM_BYTES + textBytes, expiresAt: elapsedMs() + this.retentionMs };
    const account = this.accounts.get(claimed.accountId) ?? { bytes: 0, streams: new Set() };
    this.accounts.set(claimed.accountId, account);
    this.all.add(retained);
    account.streams.add(retained);
    account.bytes += retained.bytes;
    for (const oldest of account.streams) {
      if (account.bytes <= this.limitBytes) return;
      this.remove(oldest);
      this.drop(oldest.claimed);
    }
  }

  private removeExpired(): void {
    const now = elapsedMs();
    for (const oldest of this.all) {
      if (oldest.expiresAt > now) return;
      this.remove(oldest);
    }
  }

  private remove(retained: RetainedStream): void {
    const { accountId } = retained.claimed;
    const account = this.accounts.get(accountId);
    this.all.delete(retained);
    if (account === undefined) return;
    account.streams.delete(retained);
    account.bytes -= retained.bytes;
    if (account.streams.size === 0) this.accounts.delete(accountId);
  }
}
