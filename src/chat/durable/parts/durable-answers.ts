import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { DrainState } from '../../../common/drain-state.js';
import type { PartReader } from '../../../upstreams/completion/part-reader.js';
import type { ConversationRequest } from '../../../upstreams/contract/conversation.js';
import type { ChatCaller } from '../../chat-caller.js';
import { ChatService, type StreamOptions } from '../../chat.service.js';
import { OpenStreams, shuttingDown } from '../../stream/open-streams.js';
import type { DurableRequest } from '../durable-request.js';
import { DurableStreams } from '../durable-streams.js';
import { PartLines } from './part-lines.js';
import { PartLogReader } from './part-log-reader.js';

/** What a surface keeps next to the parts of an answer, as JSON. */
export interface DurableFacts<Head> {
  /** Kept before the first part, such as the id of the answer. */
  readonly head: Head;
  /** Called when the answer is complete. The result is kept after the last part. */
  readonly tail: () => unknown;
}

/** The answer to a request with an `Idempotency-Key`: the first answer, or the same answer again. */
export interface DurableAnswer<Head> {
  readonly parts: PartReader;
  readonly head: Head;
  /** Returns the kept facts. Call this only when the parts are over. */
  tail(): unknown;
}

/**
 * Answers requests of surfaces that have an `Idempotency-Key`. Each repetition of a request gets the same parts: texts, reasoning,
 * tool calls, token counts and the finish. The generation continues although its client has left, as for `POST /chat/stream`.
 */
@Injectable()
export class DurableAnswers {
  constructor(
    private readonly streams: DurableStreams,
    private readonly chat: ChatService,
    private readonly openStreams: OpenStreams,
    private readonly drainState: DrainState,
  ) {}

  /**
   * Begins the answer, or finds it. Resolves when the answer can begin.
   *
   * @param durable set by `DurableClaimGuard`, in the context of the request.
   * @throws {ServiceError} when the request is invalid, and when the answer cannot begin.
   */
  async answer<Head>(
    durable: DurableRequest,
    request: ConversationRequest,
    caller: ChatCaller,
    response: Response,
    facts: DurableFacts<Head>,
    options?: StreamOptions,
  ): Promise<DurableAnswer<Head>> {
    const parts = await this.begin(durable, request, caller, response, facts, options);
    this.attach(parts, caller, response);
    const head = (await parts.readHead()) as Head;
    return { parts, head, tail: () => parts.tail };
  }

  private async begin<Head>(
    durable: DurableRequest,
    request: ConversationRequest,
    caller: ChatCaller,
    response: Response,
    { head, tail }: DurableFacts<Head>,
    options?: StreamOptions,
  ): Promise<PartLogReader> {
    const { stream } = durable;
    if (durable.kind === 'repeated') {
      const onRead = await this.streams.beginReplay(stream, caller.principal, response);
      return new PartLogReader(stream.log, onRead);
    }
    const open = async (detached: ChatCaller): Promise<PartReader> =>
      this.chat.open(await this.chat.validated(request), detached, options);
    await this.streams.generate(durable, caller, response, open, new PartLines(head, tail));
    return new PartLogReader(stream.log);
  }

  /** Ends the reader when its client leaves, its key is revoked, or the process stops and another replica can answer. */
  private attach(parts: PartLogReader, { principal }: ChatCaller, response: Response): void {
    const leave = this.openStreams.addReader(principal, (reason) => {
      parts.stop(reason);
    });
    const stopListening = this.drainState.whenBegun(() => {
      if (this.streams.store.isShared) parts.stop(shuttingDown());
    });
    const end = (): void => {
      stopListening();
      leave();
      void parts.return();
    };
    if (response.closed) end();
    else response.once('close', end);
  }
}
