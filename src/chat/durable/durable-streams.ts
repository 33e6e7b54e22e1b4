import { Inject, Injectable, type MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { Observable } from 'rxjs';
import { principalOf, restrictionsOf, type Principal } from '../../auth/principal/principal.js';
import { KeyedCount } from '../../platform/common/counts/counters.js';
import { DrainState } from '../../platform/common/drain-state.js';
import { ServiceError, type ErrorCode } from '../../platform/common/service-error.js';
import { withTimeout } from '../../platform/common/timers/timeouts.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import type { StreamSlots } from '../../throttling/process-load/stream-slots.js';
import type { PartReader } from '../../upstreams/completion/part-reader.js';
import { ChatService } from '../chat.service.js';
import type { ChatCaller } from '../chat-caller.js';
import type { ChatRequest } from '../request/chat-request.dto.js';
import { sendChunks } from '../stream/chunk-events.js';
import { MAX_WAIT_MS } from '../stream/deferred-headers.js';
import type { InterChunkClock } from '../stream/inter-chunk-latencies.js';
import { OpenStreams, shuttingDown, type EndStream } from '../stream/open-streams.js';
import { SseSink } from '../stream/sse-sink.js';
import type { UsageRecord } from '../../usage/record/usage-record.js';
import type { DurableRequest, Repetition } from './durable-request.js';
import { Generation } from './generation.js';
import { offsetOf, parseStreamId, positionTag } from './identity/stream-identity.js';
import { LogReader } from './log/log-reader.js';
import { CLAIM_RELEASED } from './log/stream-log.js';
import { ReplayBudget } from './replay-budget.js';
import {
  MAX_READERS,
  noSuchStream,
  once,
  StreamStore,
  type StoredStream,
  type StreamReading,
} from './store/stream-store.js';

/** The header with the id of a stream, by which its client can read it again or end it. */
export const STREAM_ID_HEADER = 'X-Stream-Id';
const REPLAYED_HEADER = 'Idempotency-Replayed';

/** The readers of one account may hold this share of MAX_STREAMS, so that slow readers leave slots for other accounts. */
const READERS_SHARE = 0.25;

/** What a surface keeps next to the parts of an answer, as JSON. */
export interface DurableFacts<Head = unknown> {
  /** Kept before the first part, such as the id of the answer. */
  readonly head: Head;
  /** Returns what is kept after the last part of a complete answer, such as its token counts. */
  readonly tail: (record: UsageRecord) => unknown;
}

/** The answer to a request, for the reader who has sent it. */
interface DurableAnswer<Head = unknown> {
  readonly parts: LogReader;
  /** The facts before the first part, those of the request that has begun the answer. */
  readonly head: Head;
}

const NO_FACTS: DurableFacts<undefined> = { head: undefined, tail: () => undefined };
/** The codes of endings that say nothing about the answer. A request for a whole answer can be sent again after them. */
const WITHOUT_ANSWER: readonly ErrorCode[] = ['interrupted', 'cancelled', 'shutting_down'];

/** Generates durable streams, and answers the requests of their readers. */
@Injectable()
export class DurableStreams {
  /** The readers of each account in this process. */
  private readonly readers = new KeyedCount();
  /** Requests since the start that got a stream which another request has begun. */
  replays = 0;

  constructor(
    readonly store: StreamStore,
    private readonly chat: ChatService,
    private readonly openStreams: OpenStreams,
    private readonly drainState: DrainState,
    private readonly replayBudget: ReplayBudget,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Answers a request to `POST /chat/stream` that has an `Idempotency-Key`. Resolves when the answer can begin. */
  async respond(
    durable: DurableRequest,
    body: ChatRequest,
    caller: ChatCaller,
    response: Response,
    clock: InterChunkClock | undefined,
  ): Promise<Observable<MessageEvent>> {
    const from = durable.kind === 'repeated' ? this.offsetIn(durable.stream, response) : 0;
    const open = (detached: ChatCaller): Promise<PartReader> => this.chat.open(body, detached);
    const { parts } = await this.answer(durable, caller, response, open, NO_FACTS, from);
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
   * @param durable set by `DurableClaimGuard`.
   * @param open starts the completion for a caller that stays when the client leaves.
   * @param from the number of UTF-16 units of text that the client has.
   * @throws {ServiceError} when the answer cannot begin, and `rate_limit_exceeded` when the account has read too much again.
   */
  async answer<Head>(
    durable: DurableRequest,
    caller: ChatCaller,
    response: Response,
    open: (detached: ChatCaller) => Promise<PartReader>,
    facts: DurableFacts<Head>,
    from = 0,
  ): Promise<DurableAnswer<Head>> {
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
  async failureOfWhole(error: unknown, { stream }: DurableRequest, parts: PartReader): Promise<unknown> {
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

  /** @throws {ServiceError} `model_not_found` when the caller may not use the model. */
  checkModel(id: string, principal: Principal): void {
    if (restrictionsOf(principal) !== undefined) this.chat.checkModel(id, principal);
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
  ): Promise<DurableAnswer<Head>> {
    // The stream can be given up only while it waits, and then it has no id that a client knows.
    const head = (await this.started(reading).catch((error: unknown) => {
      throw error === CLAIM_RELEASED ? noSuchStream() : error;
    })) as Head;
    // The process may have begun to stop while the request waited.
    this.refuseWhileDraining();
    const onRead = this.replayBudget.begin(principal.accountId, response);
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
      if (response.closed) leave();
      else response.once('close', leave);
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
    if (response.closed) end();
    else response.once('close', end);
  }
}

function tooManyReadersOfAccount(limit: number): ServiceError {
  return new ServiceError(
    'concurrency_limit_exceeded',
    `An account can have ${limit} readers of durable streams at the same time.`,
    { retryAfterSeconds: 1 },
  );
}
