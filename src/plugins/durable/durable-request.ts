import type { MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import type { Observable } from 'rxjs';
import type {
  ChatCaller,
  DurableAnswer,
  DurableFacts,
  DurableRequest,
  InterChunkClock,
  OpenDetached,
} from '../../plugin-api/core/chat.js';
import type { PartReader } from '../../plugin-api/core/upstreams.js';
import type { DurableStreams } from './durable-streams.js';
import type { OwnStream, StoredStream, StreamReading } from './store/stream-store.js';

/**
 * The request generates the stream. `isTaken`: the generation has begun, so the end of the response changes nothing. `waitedMs`:
 * how long the request has waited for another one with the same key.
 */
interface NewStream {
  readonly kind: 'new';
  readonly stream: OwnStream;
  readonly reading: StreamReading;
  readonly waitedMs: number;
  isTaken: boolean;
}

/** The request repeats an earlier one. */
export interface Repetition {
  readonly kind: 'repeated';
  readonly stream: StoredStream;
  readonly reading: StreamReading;
}

export type ClaimedStream = NewStream | Repetition;

/** A request whose key is claimed: answers with its stream. */
export class ClaimedRequest implements DurableRequest {
  constructor(
    readonly claimed: ClaimedStream,
    private readonly streams: DurableStreams,
  ) {}

  get kind(): 'new' | 'repeated' {
    return this.claimed.kind;
  }

  get streamId(): string {
    return this.claimed.stream.id;
  }

  events(
    open: OpenDetached,
    caller: ChatCaller,
    response: Response,
    clock?: InterChunkClock,
  ): Promise<Observable<MessageEvent>> {
    return this.streams.respond(this.claimed, open, caller, response, clock);
  }

  async answer<Head>(
    open: OpenDetached,
    caller: ChatCaller,
    response: Response,
    facts: DurableFacts<Head>,
  ): Promise<DurableAnswer<Head>> {
    const answer = await this.streams.answer(this.claimed, open, caller, response, facts);
    this.streams.attach(answer.parts, caller, response);
    return answer;
  }

  failureOfWhole(error: unknown, parts: PartReader): Promise<unknown> {
    return this.streams.failureOfWhole(error, this.claimed, parts);
  }
}
