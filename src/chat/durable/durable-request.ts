import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { ConversationRequest } from '../../upstreams/contract/conversation.js';
import type { StoredStream, StreamReading, OwnStream } from './store/stream-store.js';

declare module '../../platform/http/request/request-context.js' {
  interface RequestContext {
    /** Set for a request with an `Idempotency-Key` to a route that is `@Durable()`. */
    durable?: DurableRequest;
  }
}

/** What the `Idempotency-Key` of a request leads to. */
export type DurableRequest =
  /**
   * The request generates the stream. `isTaken`: the generation has begun, so the end of the response changes nothing. `waitedMs`:
   * how long the request has waited for another one with the same key.
   */
  | {
      readonly kind: 'new';
      readonly stream: OwnStream;
      readonly reading: StreamReading;
      readonly waitedMs: number;
      isTaken: boolean;
    }
  | Repetition;

/** The request repeats an earlier one. */
export interface Repetition {
  readonly kind: 'repeated';
  readonly stream: StoredStream;
  readonly reading: StreamReading;
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
