import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { randomUUID } from 'node:crypto';
import type { ChatCaller } from '../../chat/chat-caller.js';
import { completionOf, type Completion } from '../../chat/answer-contents.js';
import { ChatService } from '../../chat/chat.service.js';
import { DurableAnswers } from '../../chat/durable/parts/durable-answers.js';
import type { StreamFormat } from '../../chat/stream/stream-format.js';
import { StreamSender } from '../../chat/stream/stream-sender.js';
import { modelAccessOf } from '../../models/model-access.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import type { ConversationRequest } from '../../upstreams/contract/conversation.js';
import { modelNamed } from './model-named.js';
import { answerUsage, type AnswerUsage } from './answer-usage.js';

/** A request to a surface, as its parser returns it. */
export interface CompatibleRequest {
  /** The model is the model that the client has named: an id or an alias. */
  readonly conversation: ConversationRequest;
  readonly isStream: boolean;
}

/** The facts that an answer repeats in each of its events. */
export interface AnswerFacts {
  /** 32 hexadecimal digits. The same in each repetition of the answer. */
  readonly id: string;
  /** When the answer began, in seconds since 1970. */
  readonly createdSeconds: number;
  /** The model that the client has named. */
  readonly model: string;
  /** The token counts. Call this only when the answer is complete: it includes the estimates of the ledger. */
  usage(): AnswerUsage;
  /** When the answer was complete, in seconds since 1970. Call this only when it is. The same in each repetition of the answer. */
  completedSeconds(): number;
}

/** What is kept with the end of a durable answer. */
interface KeptEnd extends AnswerUsage {
  readonly completedSeconds: number;
}

/** How a surface writes an answer. */
export interface AnswerFormat {
  stream(facts: AnswerFacts): StreamFormat;
  /** Returns the body of a whole answer. */
  whole(completion: Completion, facts: AnswerFacts): object;
}

/** Answers the requests of all surfaces, streamed and whole. */
@Injectable()
export class CompatibleAnswers {
  constructor(
    private readonly chat: ChatService,
    private readonly catalog: ModelCatalog,
    private readonly streams: StreamSender,
    private readonly durable: DurableAnswers,
  ) {}

  /**
   * Answers a request. A whole answer is sent when it is complete.
   *
   * @throws {ServiceError} when the request is invalid, and when there is no answer.
   */
  async answer(
    { conversation, isStream }: CompatibleRequest,
    caller: ChatCaller,
    response: Response,
    format: AnswerFormat,
  ): Promise<void> {
    const facts: AnswerFacts = {
      id: randomUUID().replaceAll('-', ''),
      createdSeconds: nowSeconds(),
      model: conversation.model,
      usage: () => answerUsage(response.req.context),
      completedSeconds: nowSeconds,
    };
    const request = {
      ...conversation,
      model: modelNamed(conversation.model, this.catalog, modelAccessOf(response.req)).id,
    };
    const options = { reasoning: true };
    const { durable } = response.req.context;
    if (durable !== undefined) {
      const { id, createdSeconds, model } = facts;
      const kept = {
        head: { id, createdSeconds, model },
        tail: (): KeptEnd => ({ ...facts.usage(), completedSeconds: nowSeconds() }),
      };
      const { parts, head, tail } = await this.durable.answer(durable, request, caller, response, kept, options);
      const end = tail as () => KeptEnd;
      const same: AnswerFacts = { ...head, usage: end, completedSeconds: () => end().completedSeconds };
      if (isStream) this.streams.send(parts, format.stream(same), response);
      else sendWhole(format.whole(await completionOf(parts), same), response);
      return;
    }
    if (isStream) {
      const parts = await this.chat.stream(request, caller, options);
      this.streams.send(parts, format.stream(facts), response);
      return;
    }
    const completion = await this.chat.complete(request, caller, options);
    sendWhole(format.whole(completion, facts), response);
  }
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

function sendWhole(body: object, response: Response): void {
  response.status(200).setHeader('Cache-Control', 'no-store');
  response.json(body);
}
