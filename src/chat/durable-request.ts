import { SetMetadata, type CustomDecorator, type MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import type { Observable } from 'rxjs';
import { ApiHeader } from '../platform/http/open-api/api-decorators.js';
import type { PartReader } from '../upstreams/completion/part-stream.js';
import type { ConversationRequest } from '../upstreams/contract/conversation.js';
import type { UsageRecord } from '../usage/record/usage-record.js';
import type { ChatCaller } from './chat-caller.js';
import type { InterChunkClock } from './stream/inter-chunk-latencies.js';

declare module '../platform/http/request/request-context.js' {
  interface RequestContext {
    /** Set by the plugin of the durable streams, for a request with an `Idempotency-Key` to a route that is `@Durable()`. */
    durable?: DurableRequest;
  }
}

/** Starts the completion for a caller that stays when the client leaves. */
export type OpenDetached = (detached: ChatCaller) => Promise<PartReader>;

/** What a surface keeps next to the parts of an answer, as JSON. */
export interface DurableFacts<Head = unknown> {
  /** Kept before the first part, such as the id of the answer. */
  readonly head: Head;
  /** Returns what is kept after the last part of a complete answer, such as its token counts. */
  readonly tail: (record: UsageRecord) => unknown;
}

/** The answer to a request, for the reader who has sent it. */
export interface DurableAnswer<Head = unknown> {
  readonly parts: PartReader & { readonly endFacts: unknown };
  /** The facts before the first part, those of the request that has begun the answer. */
  readonly head: Head;
}

/** What the `Idempotency-Key` of a request leads to: a new stream, or the stream of an earlier request. */
export interface DurableRequest {
  readonly kind: 'new' | 'repeated';
  readonly streamId: string;

  /**
   * Answers with the events of `POST /chat/stream`. Resolves when the answer can begin.
   *
   * @throws {ServiceError} when the answer cannot begin, and `rate_limit_exceeded` when the account has read too much again.
   */
  events(
    open: OpenDetached,
    caller: ChatCaller,
    response: Response,
    clock?: InterChunkClock,
  ): Promise<Observable<MessageEvent>>;

  /** As {@link events}, with the parts for another format. The reader ends with the response. */
  answer<Head>(
    open: OpenDetached,
    caller: ChatCaller,
    response: Response,
    facts: DurableFacts<Head>,
  ): Promise<DurableAnswer<Head>>;

  /** Returns the error for a client that wants an answer whole and gets none. */
  failureOfWhole(error: unknown, parts: PartReader): Promise<unknown>;
}

export const DURABLE = Symbol('DURABLE');

export interface DurableOptions {
  /** Returns the conversation of a body. By default, the body is one. */
  readonly conversationOf: (body: object) => ConversationRequest;
  /**
   * The members of a body that a repetition is not compared by: they only say how to send the answer, or are made from the
   * conversation.
   */
  readonly ignoredMembers?: readonly string[];
}

/** Marks a route that answers with a durable stream when a request has an `Idempotency-Key`. */
export const Durable = (
  options: DurableOptions = { conversationOf: (body) => body as ConversationRequest },
): CustomDecorator<symbol> => SetMetadata(DURABLE, options);

/** The header with the id of a stream, by which its client can read it again or end it. */
export const STREAM_ID_HEADER = 'X-Stream-Id';

/** The header by which a client continues a stream. */
export const ApiLastEventId = (): MethodDecorator =>
  ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'The `id:` of the last event that the client has. The answer then begins after this event.',
    schema: { type: 'string' },
  });

/** The headers of every answer with a durable stream. */
export const DURABLE_HEADERS = {
  [STREAM_ID_HEADER]: {
    description: 'Only for a durable stream: its id, for `GET` and `DELETE /chat/streams/{id}`. Keep the id secret.',
    schema: { type: 'string' as const },
  },
  'Idempotency-Replayed': {
    description:
      '`true` when an earlier request has begun the stream. The limits of the tier do not count this request.',
    schema: { type: 'string' as const, enum: ['true'] },
  },
};
