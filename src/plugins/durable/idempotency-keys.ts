import { Inject, Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { principalOf, restrictionsOf } from '../../plugin-api/core/auth.js';
import { ChatService, DURABLE, type DurableOptions, MAX_WAIT_MS } from '../../plugin-api/core/chat.js';
import { elapsedMs, ServiceError } from '../../plugin-api/core/common.js';
import { CONFIG, type Config } from '../../plugin-api/core/config.js';
import { invalidRequest, clientGone } from '../../plugin-api/core/http.js';
import { RepeatedRequests, StreamSlots } from '../../plugin-api/core/throttling.js';
import { type ConversationRequest, imagesOf, textsOf } from '../../plugin-api/core/upstreams.js';
import { ClaimedRequest, type ClaimedStream } from './durable-request.js';
import { DurableStreams, whenClosed } from './durable-streams.js';
import { requestKey, type RequestKey, locatorOf } from './stream-identity.js';
import { CLAIM_RELEASED } from './log/stream-log.js';
import { StreamStore, type Claim, type StoredStream, type StreamReading } from './store/stream-store.js';

const IDEMPOTENCY_KEY_HEADER = 'idempotency-key';
const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/**
 * Checks the value of `Idempotency-Key`. Node joins several headers with a comma and a space, which is not valid either.
 *
 * @throws {ServiceError} `invalid_request`.
 */
export function checkedIdempotencyKey(sent: string | string[]): string {
  if (typeof sent === 'string' && VISIBLE_ASCII.test(sent)) return sent;
  throw invalidRequest([{ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }]);
}

type NewClaim = Extract<Claim, { outcome: 'new' }>;

/**
 * Claims the key of a request with an `Idempotency-Key`, before the limits of the tier count the request. A request that repeats
 * another one is not counted. Other requests cost one look at a header.
 */
@Injectable()
export class IdempotencyKeys implements RepeatedRequests {
  constructor(
    private readonly reflector: Reflector,
    private readonly slots: StreamSlots,
    private readonly store: StreamStore,
    private readonly streams: DurableStreams,
    private readonly chat: ChatService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async isRepeat(context: ExecutionContext): Promise<boolean> {
    const sent = this.sentTo(context);
    if (sent === undefined) return false;
    const { accountId } = principalOf(context.switchToHttp().getRequest<Request>());
    return this.store.knows(locatorOf(accountId, checkedIdempotencyKey(sent.key)));
  }

  claim(context: ExecutionContext): boolean | Promise<boolean> {
    const sent = this.sentTo(context);
    if (sent === undefined) return false;
    const http = context.switchToHttp();
    return this.resolve(sent.key, sent.options, http.getRequest<Request>(), http.getResponse<Response>());
  }

  /** Returns the key that was sent to a route that is `@Durable()`. */
  private sentTo(context: ExecutionContext) {
    const key = context.switchToHttp().getRequest<Request>().headers[IDEMPOTENCY_KEY_HEADER];
    if (key === undefined || !this.config.builtInPlugins.has('durable')) return undefined;
    const options = this.reflector.get<DurableOptions | undefined>(DURABLE, context.getHandler());
    return options && { key, options };
  }

  private async resolve(
    sent: string | string[],
    { conversationOf, ignoredMembers = [] }: DurableOptions,
    request: Request,
    response: Response,
  ): Promise<boolean> {
    const body = request.body as object;
    const conversation = conversationOf(body);
    const principal = principalOf(request);
    // The stream of the idempotency key may be one of another API key, which may use the model.
    if (restrictionsOf(principal) !== undefined) this.chat.checkModel(conversation.model, principal);
    const key = await requestKey(
      principal.accountId,
      checkedIdempotencyKey(sent),
      contentsOf(body, conversation, request.path, ignoredMembers),
    );
    const claimed = await this.claimKey(key, requestBytes(conversation), request, response);
    request.context.durable = new ClaimedRequest(claimed, this.streams);
    return claimed.kind === 'repeated';
  }

  private async claimKey(key: RequestKey, bytes: number, request: Request, response: Response): Promise<ClaimedStream> {
    const startedAt = elapsedMs();
    for (;;) {
      this.streams.refuseWhileDraining();
      const claim = await this.store.claim(key, bytes);
      const waitedMs = elapsedMs() - startedAt;
      switch (claim.outcome) {
        case 'conflict':
          throw new ServiceError('idempotency_conflict', 'The Idempotency-Key was used with another body.');
        case 'new': {
          refuseContinuation(request, claim);
          const { stream, reading } = claim;
          const claimed: ClaimedStream = { kind: 'new', stream, reading, waitedMs, isTaken: false };
          whenClosed(response, () => {
            reading.leave();
            // Another guard has refused the request, or the client has left before the generation.
            if (!claimed.isTaken) stream.abandon(CLAIM_RELEASED);
          });
          return claimed;
        }
        case 'found': {
          const { stream } = claim;
          const reading = await this.enterStarted(stream, response, MAX_WAIT_MS - waitedMs);
          if (reading !== undefined) return { kind: 'repeated', stream, reading };
        }
      }
    }
  }

  /** Waits until the stream has begun. Returns nothing when the key was given up, so that it can be claimed again. */
  private async enterStarted(
    stream: StoredStream,
    response: Response,
    limitMs: number,
  ): Promise<StreamReading | undefined> {
    let reading: StreamReading | undefined;
    try {
      reading = await this.streams.enter(stream, response, this.slots);
      await this.streams.started(reading, limitMs);
      return reading;
    } catch (error) {
      reading?.leave();
      // The stream is gone since it was found.
      const isGone = error === CLAIM_RELEASED || (error instanceof ServiceError && error.code === 'not_found');
      if (!isGone) throw error;
      clientGone(response).throwIfAborted();
      return undefined;
    }
  }
}

/**
 * Refuses a request that asks for the rest of a stream which is not kept. A new answer would not fit to the text that the
 * client has.
 */
function refuseContinuation({ headers }: Request, { stream, reading }: NewClaim): void {
  if ((headers['last-event-id'] ?? '') === '') return;
  stream.abandon(CLAIM_RELEASED);
  reading.leave();
  throw new ServiceError(
    'not_found',
    'The stream is not kept any longer. Send the request without Last-Event-ID to generate a new answer.',
  );
}

/**
 * Returns what a repetition of the request must have, too. The members of the conversation stand alone, so that a long list of
 * messages is hashed in steps. The format of a surface is part of its answer, so its path and its other members belong to it.
 */
function contentsOf(
  body: object,
  conversation: ConversationRequest,
  path: string,
  ignoredMembers: readonly string[],
): object {
  if (body === conversation) return body;
  const others = Object.entries(body).filter(
    ([name, value]) => value !== conversation && !ignoredMembers.includes(name),
  );
  return { ...conversation, '/path': path, '/others': Object.fromEntries(others) };
}

/** Estimates the memory of a request that its generation holds. */
function requestBytes({ messages }: ConversationRequest): number {
  let bytes = 0;
  for (const message of messages) {
    for (const text of textsOf(message)) bytes += Buffer.byteLength(text);
    for (const { url } of imagesOf(message)) bytes += url.length;
  }
  return bytes;
}
