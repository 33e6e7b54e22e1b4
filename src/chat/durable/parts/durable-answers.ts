import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { PartReader } from '../../../upstreams/completion/part-reader.js';
import type { ConversationRequest } from '../../../upstreams/contract/conversation.js';
import type { ChatCaller } from '../../chat-caller.js';
import { ChatService, type StreamOptions } from '../../chat.service.js';
import { shuttingDown, type EndStream } from '../../stream/open-streams.js';
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

/**
 * Answers requests of surfaces that have an `Idempotency-Key`. Each repetition of a request gets the same parts: texts, reasoning,
 * tool calls, token counts and the finish. The generation continues although its client has left, as for `POST /chat/stream`.
 */
@Injectable()
export class DurableAnswers {
  constructor(
    private readonly streams: DurableStreams,
    private readonly chat: ChatService,
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
    { head, tail }: DurableFacts<Head>,
    options?: StreamOptions,
  ): Promise<readonly [parts: PartLogReader, head: Head]> {
    let onRead: ((bytes: number) => void) | undefined;
    if (durable.kind === 'repeated') {
      onRead = await this.streams.beginReplay(durable.stream, caller.principal, response);
    } else {
      const open = async (detached: ChatCaller): Promise<PartReader> =>
        this.chat.open(await this.chat.validated(request), detached, options);
      await this.streams.generate(durable, caller, response, open, new PartLines(head, tail));
    }
    const parts = new PartLogReader(durable.stream.log, onRead);
    this.attach(parts, caller, response);
    return [parts, (await parts.readHead()) as Head];
  }

  /** Ends the reader when its client leaves, its key is revoked, or the process stops and another replica can answer. */
  private attach(parts: PartLogReader, { principal }: ChatCaller, response: Response): void {
    const stop: EndStream = (reason) => {
      parts.stop(reason);
    };
    const leave = this.streams.addReader(principal, stop, () => {
      stop(shuttingDown());
    });
    const end = (): void => {
      leave();
      void parts.return();
    };
    if (response.closed) end();
    else response.once('close', end);
  }
}
