import { Inject, Injectable, type MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { Observable } from 'rxjs';
import { principalOf } from '../../auth/principal/current-principal.decorator.js';
import { restrictionsOf, type Principal } from '../../auth/principal/principal.js';
import { KeyedCount } from '../../common/counts/keyed-count.js';
import { DrainState } from '../../common/drain-state.js';
import { ServiceError } from '../../common/service-error.js';
import { CONFIG, type Config } from '../../config/config.js';
import type { StreamSlots } from '../../throttling/process-load/stream-slots.js';
import type { PartReader } from '../../upstreams/completion/part-reader.js';
import { ChatService } from '../chat.service.js';
import type { ChatCaller } from '../chat-caller.js';
import type { ChatRequest } from '../request/chat-request.dto.js';
import { sendChunks } from '../stream/chunk-events.js';
import type { InterChunkClock } from '../stream/inter-chunk-latencies.js';
import { OpenStreams, shuttingDown, type EndStream } from '../stream/open-streams.js';
import { SseSink } from '../stream/sse-sink.js';
import type { DurableRequest } from './durable-request.js';
import { Generation, type PartWriter } from './generation.js';
import { parseStreamId } from './identity/stream-identity.js';
import { offsetOf, positionTag } from './identity/stream-position.js';
import { LogReader } from './log/log-reader.js';
import { ReplayBudget } from './replay-budget.js';
import { MAX_READERS, once, StreamStore, type StoredStream } from './store/stream-store.js';

export const STREAM_ID_HEADER = 'X-Stream-Id';
export const REPLAYED_HEADER = 'Idempotency-Replayed';

/** The readers of one account may hold this share of MAX_STREAMS, so that slow readers leave slots for other accounts. */
const READERS_SHARE = 0.25;

interface ReadingOptions {
  readonly clock?: InterChunkClock | undefined;
  /** Called with the size of each text that the client gets. */
  readonly onRead?: (bytes: number) => void;
}

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

  /**
   * Answers a request that has an `Idempotency-Key`. Resolves when the answer can begin.
   *
   * @param durable set by `DurableClaimGuard`.
   * @throws {ServiceError} when the answer cannot begin.
   */
  async respond(
    durable: DurableRequest,
    body: ChatRequest,
    caller: ChatCaller,
    response: Response,
    clock: InterChunkClock | undefined,
  ): Promise<Observable<MessageEvent>> {
    switch (durable.kind) {
      case 'repeated':
        return this.replay(durable.stream, caller.principal, response);
      case 'new': {
        const { stream } = durable;
        await this.generate(durable, caller, response, (detached) => this.chat.open(body, detached));
        response.setHeader(STREAM_ID_HEADER, stream.id);
        return this.events(stream, 0, caller.principal, response, { clock });
      }
    }
  }

  /**
   * Generates a new stream. Resolves when the answer has begun. The rest of the answer follows by itself.
   *
   * @param open starts the completion for a caller that stays when the client leaves.
   * @param writer writes the answer to the log. By default, its text only.
   * @throws {ServiceError} when the answer cannot begin.
   */
  async generate(
    durable: Extract<DurableRequest, { kind: 'new' }>,
    caller: ChatCaller,
    response: Response,
    open: (detached: ChatCaller) => Promise<PartReader>,
    writer?: PartWriter,
  ): Promise<void> {
    caller.signal.throwIfAborted();
    durable.isTaken = true;
    const lease = response.req.context.lease?.outlive();
    const generation = new Generation(durable.stream, this.detachedMs(caller.principal), caller.requestId, writer);
    await generation.begin((signal) => open({ ...caller, lease, signal, detached: true }));
    // The prompt may have 4 MiB, and the response may last for hours.
    response.req.body = undefined;
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

  /**
   * Answers a reader of a stream that another request has begun, from the position of `Last-Event-ID`.
   *
   * @throws {ServiceError} `rate_limit_exceeded` when the account has read too much again, see {@link ReplayBudget}.
   */
  async replay(stream: StoredStream, principal: Principal, response: Response): Promise<Observable<MessageEvent>> {
    const sent = String(response.req.headers['last-event-id'] ?? '');
    const offset = sent === '' ? 0 : offsetOf(sent, positionTag(stream.id));
    const onRead = await this.beginReplay(stream, principal, response);
    response.setHeader(STREAM_ID_HEADER, stream.id);
    return this.events(stream, offset, principal, response, { onRead });
  }

  /**
   * Begins to read a stream that another request has begun, when the stream has begun.
   *
   * @returns a function to call with the size of each text that is read.
   * @throws {ServiceError} `rate_limit_exceeded` when the account has read too much again, see {@link ReplayBudget}.
   */
  async beginReplay(
    stream: StoredStream,
    { accountId }: Principal,
    response: Response,
  ): Promise<(bytes: number) => void> {
    // The stream can be given up only while it waits, and then it has no id that a client knows.
    await stream.log.begun.catch(() => {
      throw noSuchStream();
    });
    // The process may have begun to stop while the request waited.
    this.refuseWhileDraining();
    const onRead = this.replayBudget.begin(accountId, response);
    this.replays += 1;
    response.setHeader(REPLAYED_HEADER, 'true');
    return onRead;
  }

  /**
   * Counts the request as a reader of the stream until its response is over.
   *
   * @returns a function that ends this earlier.
   * @throws {ServiceError} when the stream or the process has too many readers.
   */
  async enter(stream: StoredStream, response: Response, slots: StreamSlots): Promise<() => void> {
    const overload = slots.refusal();
    if (overload !== undefined) throw overload;
    const releaseSlot = this.takeSlot(response, slots);
    try {
      const leaveStream = await stream.enter();
      const leave = once(() => {
        leaveStream();
        releaseSlot();
      });
      if (response.closed) leave();
      else response.once('close', leave);
      return leave;
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
    { id, log }: StoredStream,
    offset: number,
    principal: Principal,
    response: Response,
    { clock, onRead }: ReadingOptions,
  ): Observable<MessageEvent> {
    const { requestId } = response.req.context;
    return new Observable((subscriber) => {
      const sink = new SseSink(response, this.config.stalledReaderMs, subscriber, true);
      const reader = new LogReader(log, positionTag(id), offset, onRead);
      const fail: EndStream = (reason) => {
        reader.fail(reason);
      };
      // The client comes again, and another replica continues.
      const leave = this.addReader(principal, fail, () => {
        sink.end();
      });
      const stop = sendChunks(reader, sink, requestId, clock);
      return () => {
        leave();
        stop();
      };
    });
  }

  /**
   * Adds a reader of a stream to the open streams.
   *
   * @param fail called with the reason when the credential of the reader ends, or the grace period of the shutdown is over.
   * @param move called when the process stops and another replica can serve the reader.
   * @returns a function to call when the reader has left.
   */
  addReader(principal: Principal, fail: EndStream, move: () => void): () => void {
    const leave = this.openStreams.addReader(principal, fail);
    const stopListening = this.drainState.whenBegun(() => {
      if (this.store.isShared) move();
    });
    return () => {
      stopListening();
      leave();
    };
  }
}

function tooManyReadersOfAccount(limit: number): ServiceError {
  return new ServiceError(
    'concurrency_limit_exceeded',
    `An account can have ${limit} readers of durable streams at the same time.`,
    { retryAfterSeconds: 1 },
  );
}

function noSuchStream(): ServiceError {
  return new ServiceError('not_found', 'There is no such stream, or it is not kept any longer.');
}
