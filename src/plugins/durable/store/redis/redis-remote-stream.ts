import { EndUnknown } from '../../../../plugin-api/core/chat.js';
import { elapsedMs, isHighSurrogate, ServiceError, startTimer } from '../../../../plugin-api/core/common.js';
import type { CompletionPart } from '../../../../plugin-api/core/upstreams.js';
import { streamId, type StreamAddress } from '../../stream-identity.js';
import { notRetained, type LoggedParts } from '../../log/log-reader.js';
import { CLAIM_RELEASED, type Ending } from '../../log/stream-log.js';
import { once, type StoredStream, type StreamReading } from '../stream-store.js';
import { INTERRUPTED, WatchedClaim, type RedisStreamTools, type StreamName } from './redis-stream-tools.js';
import { StreamCipher } from './log-entries.js';
import { READER_MS } from './stream-scripts.js';

/** The entries that one command reads. A reader keeps no more than these. */
const ENTRIES_PER_READ = 8;
/** How often a stream is read while parts arrive. Its owner writes as often. */
const READ_EVERY_MS = 50;
/** How often a stream is read after a second without a part. */
const QUIET_EVERY_MS = 200;
const QUIET_AFTER_MS = 1_000;
const RETRY_AFTER_MS = 250;
/** How often a reader that has parts left renews its slot. */
const RENEW_EVERY_MS = READER_MS / 3;
/** A stream that Redis does not know for this long is lost: its owner would have restored it. */
const LOST_AFTER_MS = 4_000;
/** Without Redis for this long, readers are disconnected. */
const UNAVAILABLE_LIMIT_MS = 60_000;

/** A stream that another replica generates, or that has ended. */
export class RedisRemoteStream implements StoredStream {
  readonly id: string;

  constructor(
    private readonly address: StreamAddress,
    private readonly name: StreamName,
    private readonly tools: RedisStreamTools,
  ) {
    this.id = streamId(address);
  }

  async enter(): Promise<StreamReading> {
    const { keys, generation } = this.name;
    const readerId = await this.tools.takeSlot(keys, generation);
    const source = new RedisSource(this.name, readerId, this.address.secret, this.tools);
    const leave = once(() => {
      source.close();
      this.tools.releaseSlot(keys, readerId);
    });
    return { source, leave };
  }

  cancel(): Promise<void> {
    return this.tools.cancel(this.name.keys, this.name.generation);
  }

  forget(): Promise<void> {
    return this.tools.forget(this.name);
  }
}

/**
 * Reads a stream in Redis for one reader. The next entries are read when the reader has taken all parts of the last ones, so a slow
 * reader costs no memory. Also ends the stream for all readers when its owner does not renew the claim.
 */
class RedisSource implements LoggedParts {
  onMore: () => void = () => undefined;
  readonly started: Promise<unknown>;
  private resolveStarted!: (head: unknown) => void;
  private rejectStarted!: (reason: Error) => void;
  private hasStarted = false;
  private readonly cipher: StreamCipher;
  private parts: CompletionPart[] = [];
  private offset = 0;
  private endingAfterParts: Ending | undefined;
  private failure: Error | undefined;
  /** The number of entries that were read. */
  private entries = 0;
  private isClosed = false;
  private isReading = false;
  /** Whether the last command has read as many entries as it may. */
  private hasMore = false;
  private timer: NodeJS.Timeout | undefined;
  private partsAt = elapsedMs();
  private answeredAt = elapsedMs();
  private goneSince: number | undefined;
  private readonly claim = new WatchedClaim();

  constructor(
    private readonly name: StreamName,
    private readonly readerId: string,
    secret: Buffer,
    private readonly tools: RedisStreamTools,
  ) {
    this.cipher = new StreamCipher(secret, name.generation, 'text');
    this.started = new Promise((resolve, reject) => {
      this.resolveStarted = resolve;
      this.rejectStarted = reject;
    });
    this.started.catch(() => undefined);
    this.readIn(0);
  }

  get isEmpty(): boolean {
    return this.parts.length === 0;
  }

  get ending(): Ending | undefined {
    return this.isEmpty ? this.endingAfterParts : undefined;
  }

  read(maxLength: number): CompletionPart | undefined {
    const [part] = this.parts;
    if (part === undefined) {
      if (this.failure !== undefined) throw this.failure;
      return undefined;
    }
    let next = part;
    if (part.type === 'text' && part.text.length - this.offset > maxLength) {
      let end = this.offset + maxLength;
      if (isHighSurrogate(part.text.charCodeAt(end - 1))) end -= 1;
      next = { type: 'text', text: part.text.slice(this.offset, end) };
      this.offset = end;
      return next;
    }
    if (part.type === 'text' && this.offset > 0) next = { type: 'text', text: part.text.slice(this.offset) };
    this.offset = 0;
    this.parts.shift();
    if (this.isEmpty) this.readIn(this.hasMore ? 0 : READ_EVERY_MS);
    return next;
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  private readIn(delayMs: number): void {
    if (this.isReading || this.isClosed || this.endingAfterParts !== undefined || this.failure !== undefined) return;
    clearTimeout(this.timer);
    this.timer = startTimer(() => void this.readNext(), delayMs).unref();
  }

  private async readNext(): Promise<void> {
    this.isReading = true;
    const maxEntries = this.isEmpty ? ENTRIES_PER_READ : 0;
    const isLost = this.goneSince !== undefined && elapsedMs() - this.goneSince >= LOST_AFTER_MS;
    let nextMs = RETRY_AFTER_MS;
    try {
      const also = isLost ? ({ also: 'bury' } as const) : {};
      const { readerId, claim, entries: after } = this;
      const [state, entries] = await this.tools.read(this.name, { readerId, after, maxEntries, claim, ...also });
      this.answeredAt = elapsedMs();
      if (!this.isClosed) nextMs = this.take(state, entries, maxEntries, isLost);
    } catch {
      // Redis is unavailable or slow.
      this.goneSince = undefined;
      if (elapsedMs() - this.answeredAt >= UNAVAILABLE_LIMIT_MS) this.fail(new EndUnknown());
    }
    this.isReading = false;
    this.readIn(this.isEmpty ? nextMs : RENEW_EVERY_MS);
  }

  /** Takes what one command has read. Returns when to read again. */
  private take(
    state: string,
    entries: readonly (readonly [id: Buffer, fields: readonly Buffer[]])[],
    maxEntries: number,
    isLost: boolean,
  ): number {
    for (const [id, [field, value = Buffer.of()]] of entries) this.takeEntry(id.toString(), String(field), value);
    const now = elapsedMs();
    if (entries.length > 0) this.partsAt = now;
    if (state !== 'gone' || !this.tools.maySettle(this.name.keys)) this.goneSince = undefined;
    if (this.isOver) {
      // There is nothing more to read.
    } else if (state === 'full') {
      this.fail(new ServiceError('unavailable', 'The slot of this reader was lost. Try again.'));
    } else if (maxEntries > entries.length) {
      this.takeState(state, isLost, now);
    }
    if (entries.length > 0 || this.isOver) this.onMore();
    if (maxEntries > 0) this.hasMore = entries.length === maxEntries;
    if (this.hasMore) return 0;
    return now - this.partsAt < QUIET_AFTER_MS ? READ_EVERY_MS : QUIET_EVERY_MS;
  }

  private get isOver(): boolean {
    return this.endingAfterParts !== undefined || this.failure !== undefined;
  }

  /** Ends a stream that has no more entries, if its state says so. */
  private takeState(state: string, isLost: boolean, now: number): void {
    if (state === 'lost' || state === 'ended') this.end(INTERRUPTED);
    if (state !== 'gone') return;
    if (!this.hasStarted && this.tools.maySettle(this.name.keys)) this.fail(CLAIM_RELEASED);
    else if (isLost) this.end(INTERRUPTED);
    else this.goneSince ??= now;
  }

  private takeEntry(id: string, field: string, value: Buffer): void {
    if (this.isOver) return;
    if (field === 'r') {
      const failure = this.cipher.openFailure(value);
      if (!this.hasStarted) this.fail(failure);
      else this.end(failure instanceof ServiceError ? failed(failure) : INTERRUPTED);
      return;
    }
    const number = Number(id.split('-')[0]) - 1;
    const entry = this.cipher.openEntry(value, number);
    if (entry === undefined) {
      this.end(INTERRUPTED);
      return;
    }
    if (number > this.entries) {
      // The stream was dropped. Only its last entry is left.
      this.end(entry.ending?.kind === 'failed' ? entry.ending : failed(notRetained()));
      return;
    }
    this.entries = number + 1;
    if (number === 0) {
      this.hasStarted = true;
      this.resolveStarted(entry.head);
    }
    if (entry.parts !== undefined) this.parts.push(...entry.parts);
    if (entry.ending !== undefined) this.end(entry.ending);
  }

  private end(ending: Ending): void {
    this.endingAfterParts = ending;
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.resolveStarted(undefined);
  }

  private fail(failure: Error): void {
    this.failure = failure;
    this.rejectStarted(failure);
    this.onMore();
  }
}

function failed({ code, message }: ServiceError): Ending {
  return { kind: 'failed', code, message };
}
