import { Inject, Injectable, type MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { Observable } from 'rxjs';
import { type Principal, principalOf } from '../../plugin-api/core/auth.js';
import {
  type ChatCaller,
  type DurableAnswer,
  type DurableFacts,
  type EndStream,
  type InterChunkClock,
  MAX_WAIT_MS,
  type OpenDetached,
  OpenStreams,
  sendChunks,
  shuttingDown,
  SseSink,
  STREAM_ID_HEADER,
} from '../../plugin-api/core/chat.js';
import { DrainState, type ErrorCode, KeyedCount, ServiceError, withTimeout } from '../../plugin-api/core/common.js';
import { CONFIG, type Config } from '../../plugin-api/core/config.js';
import type { StreamSlots } from '../../plugin-api/core/throttling.js';
import type { PartReader } from '../../plugin-api/core/upstreams.js';
import type { ClaimedStream, Repetition } from './durable-request.js';
import type { DurableStreamCounts } from '../../plugin-api/durable-stream-counts.js';
import { Generation } from './generation.js';
import { offsetOf, parseStreamId, positionTag } from './stream-identity.js';
import { LogReader } from './log/log-reader.js';
import { CLAIM_RELEASED } from './log/stream-log.js';
import { StreamMemory } from './log/stream-memory.js';
import { ReplayRate } from './replay-rate.js';
import {
  MAX_READERS,
  noSuchStream,
  once,
  StreamStore,
  type StoreCounts,
  type StoredStream,
  type StreamReading,
} from './store/stream-store.js';

const REPLAYED_HEADER = 'Idempotency-Replayed';

/** The readers of one account may hold this share of MAX_STREAMS, so that slow readers leave slots for other accounts. */
const READERS_SHARE = 0.25;

/** The answer to a request, for the reader who has sent it. */
interface LoggedAnswer<Head> extends DurableAnswer<Head> {
  readonly parts: LogReader;
}

const NO_FACTS: DurableFacts<undefined> = { head: undefined, tail: () => undefined };
/** The codes of endings that say nothing about the answer. A request for a whole answer can be sent again after them. */
const WITHOUT_ANSWER: readonly ErrorCode[] = ['interrupted', 'cancelled', 'shutting_down'];

/** Generates durable streams, and answers the requests of their readers. */
@Injectable()
export class DurableStreams implements DurableStreamCounts {
  /** The readers of each account in this process. */
  private readonly readers = new KeyedCount();
  replays = 0;

  constructor(
    readonly store: StreamStore,
    private readonly openStreams: OpenStreams,
    private readonly drainState: DrainState,
    private readonly replayRate: ReplayRate,
    private readonly memory: StreamMemory,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  get counts(): StoreCounts {
    return this.store.counts;
  }

  get usedBytes(): number {
    return this.memory.used;
  }

  /** Answers a request to `POST /chat/stream` that has an `Idempotency-Key`. Resolves when the answer can begin. */
  async respond(
    durable: ClaimedStream,
    open: OpenDetached,
    caller: ChatCaller,
    response: Response,
    clock: InterChunkClock | undefined,
  ): Promise<Observable<MessageEvent>> {
    const from = durable.kind === 'repeated' ? this.offsetIn(durable.stream, response) : 0;
    const { parts } = await this.answer(durable, open, caller, response, NO_FACTS, from);
    return this.events(parts, durable.stream, caller.principal, response, clock);
  }

  /** Answers a request for a stream by its id, from the position of `Last-Event-ID`. */
  async read(durable: Repetition, principal: Principal, response: Response): Promise<Observable<MessageEvent>> {
    const from = this.offsetIn(durable.stream, response);
    const { parts } = await this.replay(durable, principal, response, from);
    return this.events(parts, durable.stream, principal, response);
  }

  /**
   * Begins the answer to a request that has an `Idempotency-Key`, or finds it. Resolves when the answer can begin. The generation
   * continues although its client has left.
   *
   * @param from the number of UTF-16 units of text that the client has.
   * @throws {ServiceError} when the answer cannot begin, and `rate_limit_exceeded` when the account has read too much again.
   */
  async answer<Head>(
    durable: ClaimedStream,
    open: OpenDetached,
    caller: ChatCaller,
    response: Response,
    facts: DurableFacts<Head>,
    from = 0,
  ): Promise<LoggedAnswer<Head>> {
    if (durable.kind === 'repeated') return this.replay(durable, caller.principal, response, from);
    const { stream, reading, waitedMs } = durable;
    caller.signal.throwIfAborted();
    durable.isTaken = true;
    const lease = response.req.context.counted?.lease?.outlive();
    const generation = new Generation(stream, this.detachedMs(caller.principal), caller.requestId, facts);
    await generation.begin((signal, onComplete) =>
      open({ ...caller, lease, signal, detached: true, onComplete, waitedMs }),
    );
    // The prompt may have 4 MiB, and the response may last for hours.
    response.req.body = undefined;
    return { parts: new LogReader(reading.source, stream.id), head: facts.head };
  }

  /**
   * Returns the error for a client that wants an answer whole and gets none. A failure that says nothing about the answer is not
   * kept: the same request can be sent again, and then generates a new answer. If only this client has failed, as its replica
   * stops, the stream goes on and the same request finds it.
   */
  async failureOfWhole(error: unknown, { stream }: ClaimedStream, parts: PartReader): Promise<unknown> {
    if (!(error instanceof ServiceError) || !WITHOUT_ANSWER.includes(error.code)) return error;
    // If Redis is unavailable, the client gets the same answer again until it is back.
    if (parts instanceof LogReader && parts.hasStreamFailed) await stream.forget().catch(() => undefined);
    return new ServiceError('unavailable', 'The answer was not completed. Send the request again.', {
      cause: error,
      retryAfterSeconds: 1,
    });
  }

  /** How long a stream may run without a reader. The playground returns to its streams for as long as they are kept. */
  private detachedMs({ credential }: Principal): number {
    const { streamDetachedMs, streamRetentionMs } = this.config;
    return credential.kind === 'session' ? Math.max(streamDetachedMs, streamRetentionMs) : streamDetachedMs;
  }

  /** Finds a stream of the account. @throws {ServiceError} `not_found`, or `unavailable`. */
  async find(id: string, { accountId }: Principal): Promise<StoredStream> {
    this.refuseWhileDraining();
    const address = parseStreamId(id);
    const stream = address && (await this.store.find(address, accountId));
    if (stream === undefined) throw noSuchStream();
    return stream;
  }

  /** Reads a stream that another request has begun. */
  private async replay<Head>(
    { stream, reading }: Repetition,
    principal: Principal,
    response: Response,
    from: number,
  ): Promise<LoggedAnswer<Head>> {
    // The stream can be given up only while it waits, and then it has no id that a client knows.
    const head = (await this.started(reading).catch((error: unknown) => {
      throw error === CLAIM_RELEASED ? noSuchStream() : error;
    })) as Head;
    // The process may have begun to stop while the request waited.
    this.refuseWhileDraining();
    const onRead = this.replayRate.begin(principal.accountId, response);
    this.replays += 1;
    response.setHeader(REPLAYED_HEADER, 'true');
    return { parts: new LogReader(reading.source, stream.id, from, onRead), head };
  }

  /**
   * Waits until a stream has begun. Resolves with the facts before its first part.
   *
   * @throws the failure of the stream, `CLAIM_RELEASED`, or {@link ServiceError} `unavailable` when the wait takes too long.
   */
  started({ source }: StreamReading, limitMs = MAX_WAIT_MS): Promise<unknown> {
    return withTimeout(source.started, limitMs, () => {
      return new ServiceError('unavailable', 'The answer has not begun in time. Try again.', { retryAfterSeconds: 1 });
    });
  }

  /** @throws {ServiceError} `invalid_request` when `Last-Event-ID` is not a position of the stream. */
  private offsetIn({ id }: StoredStream, { req }: Response): number {
    const sent = String(req.headers['last-event-id'] ?? '');
    return sent === '' ? 0 : offsetOf(sent, positionTag(id));
  }

  /**
   * Counts the request as a reader of the stream until its response is over.
   *
   * @returns the reading, which can end earlier.
   * @throws {ServiceError} when the stream or the process has too many readers.
   */
  async enter(stream: StoredStream, response: Response, slots: StreamSlots): Promise<StreamReading> {
    const overload = slots.refusal();
    if (overload !== undefined) throw overload;
    const releaseSlot = this.takeSlot(response, slots);
    try {
      const { source, leave: leaveStream } = await stream.enter();
      const leave = once(() => {
        leaveStream();
        releaseSlot();
      });
      whenClosed(response, leave);
      return { source, leave };
    } catch (error) {
      releaseSlot();
      throw error;
    }
  }

  /** @throws {ServiceError} when the account or the process has too many readers. */
  private takeSlot(response: Response, slots: StreamSlots): () => void {
    const { accountId } = principalOf(response.req);
    const limit = Math.max(MAX_READERS, Math.floor(this.config.maxStreams * READERS_SHARE));
    if (this.readers.of(accountId) >= limit) throw tooManyReadersOfAccount(limit);
    const releaseSlot = slots.take(response);
    this.readers.add(accountId, 1);
    return () => {
      releaseSlot();
      this.readers.add(accountId, -1);
    };
  }

  /**
   * Sends the clients of a process that stops to the other replicas. Without other replicas, clients may still read.
   *
   * @throws {ServiceError} `shutting_down`.
   */
  refuseWhileDraining(): void {
    if (this.drainState.isDraining && this.store.isShared) throw shuttingDown();
  }

  private events(
    parts: LogReader,
    { id }: StoredStream,
    principal: Principal,
    response: Response,
    clock?: InterChunkClock,
  ): Observable<MessageEvent> {
    response.setHeader(STREAM_ID_HEADER, id);
    const { requestId } = response.req.context;
    return new Observable((subscriber) => {
      const sink = new SseSink(response, this.config.stalledReaderMs, subscriber, true);
      const fail: EndStream = (reason) => {
        parts.stop(reason);
      };
      const leave = this.openStreams.addReader(principal, fail);
      // The client comes again, and another replica continues.
      const stopListening = this.drainState.whenStarted(() => {
        if (this.store.isShared) sink.end();
      });
      const stop = sendChunks(parts, sink, requestId, clock);
      return () => {
        stopListening();
        leave();
        stop();
      };
    });
  }

  /**
   * Ends the reader of a surface when its client leaves, its key is revoked, or the grace period of the shutdown is over: the clients
   * of other interfaces do not come again by themselves.
   */
  attach(parts: LogReader, { principal }: ChatCaller, response: Response): void {
    const leave = this.openStreams.addReader(principal, (reason) => {
      parts.stop(reason);
    });
    const end = (): void => {
      leave();
      void parts.return();
    };
    whenClosed(response, end);
  }
}

/** Calls the listener when the response is over, at once if it is over already. */
export function whenClosed(response: Response, listener: () => void): void {
  if (response.closed) listener();
  else response.once('close', listener);
}

function tooManyReadersOfAccount(limit: number): ServiceError {
  return new ServiceError(
    'concurrency_limit_exceeded',
    `An account can have ${limit} readers of durable streams at the same time.`,
    { retryAfterSeconds: 1 },
  );
}
