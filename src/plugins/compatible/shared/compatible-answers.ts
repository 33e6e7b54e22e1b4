import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { randomUUID } from 'node:crypto';
import {
  type ChatCaller,
  ChatService,
  type Completion,
  completionOf,
  type StreamFormat,
  StreamSender,
} from '../../../plugin-api/core/chat.js';
import { ServiceError, stringifyWithSources } from '../../../plugin-api/core/common.js';
import type { ModelConfig } from '../../../plugin-api/core/config.js';
import type { RequestContext } from '../../../plugin-api/core/http.js';
import { type ModelAccess, ModelCatalog, modelAccessOf } from '../../../plugin-api/core/models.js';
import type { ConversationRequest, PartReader } from '../../../plugin-api/core/upstreams.js';
import type { UsageRecord } from '../../../plugin-api/core/usage.js';
import { withBodyFields } from './error-formats.js';

/** The token counts of an answer, as the ledger has them: reported by the provider, or estimated. */
export interface AnswerUsage {
  /** `undefined`: the count is unknown. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cachedInputTokens: number | undefined;
  readonly cacheWriteInputTokens: number | undefined;
  readonly reasoningOutputTokens: number | undefined;
}

/** Returns the token counts of the completion of a request. The completion must be over. */
function answerUsage({ ledgerEntry }: RequestContext): AnswerUsage {
  let record: UsageRecord | undefined;
  ledgerEntry?.whenOver((over) => {
    record = over;
  });
  return usageOf(record);
}

function usageOf(record: UsageRecord | undefined): AnswerUsage {
  return {
    inputTokens: record?.inputTokens.count,
    outputTokens: record?.outputTokens.count,
    cachedInputTokens: record?.cachedInputTokens,
    cacheWriteInputTokens: record?.cacheWriteInputTokens,
    reasoningOutputTokens: record?.reasoningOutputTokens,
  };
}

/**
 * Returns the model with this id or alias.
 *
 * @param access what the caller may use. By default all models.
 * @throws {ServiceError} `model_not_found`, whatever the form of the name: clients of other APIs have other names.
 */
export function modelNamed(name: string, catalog: ModelCatalog, access?: ModelAccess): ModelConfig {
  const model = catalog.find(name);
  if (model !== undefined && access?.allowsModel(model.id) !== false) return model;
  throw new ServiceError(
    'model_not_found',
    'This model does not exist. GET /api/v1/models lists the available models.',
    {
      details: [{ field: 'model', message: 'is unknown' }],
    },
  );
}

/** A request to a surface, as its parser returns it. */
export interface CompatibleRequest {
  readonly conversation: ConversationRequest;
  /** The model that the client has named: an id or an alias. Limits of plugins and the refused requests read this member. */
  readonly model: string;
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
  /** Returns the path in the body of the request for a path in the conversation, for errors. */
  bodyField(field: string): string;
}

const OPTIONS = { reasoning: true };

/** Answers the requests of all surfaces, streamed and whole. */
@Injectable()
export class CompatibleAnswers {
  constructor(
    private readonly chat: ChatService,
    private readonly catalog: ModelCatalog,
    private readonly streams: StreamSender,
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
    const request = {
      ...conversation,
      model: modelNamed(conversation.model, this.catalog, modelAccessOf(response.req)).id,
    };
    try {
      const [parts, facts] = await this.begin(request, conversation.model, caller, response);
      if (isStream) {
        this.streams.send(parts, format.stream(facts), response);
        return;
      }
      const completion = await completionOf(parts).catch(async (error: unknown) => {
        const { durable } = response.req.context;
        throw durable === undefined ? error : await durable.failureOfWhole(error, parts);
      });
      // The token counts are those of the record.
      await parts.record;
      response.status(200).setHeader('Cache-Control', 'no-store');
      response.type('json').send(stringifyWithSources(format.whole(completion, facts)));
    } catch (error) {
      throw withBodyFields(error, format.bodyField);
    }
  }

  /** @param model the model that the client has named. */
  private async begin(
    request: ConversationRequest,
    model: string,
    caller: ChatCaller,
    response: Response,
  ): Promise<readonly [parts: PartReader & { readonly record?: Promise<unknown> }, facts: AnswerFacts]> {
    const head = { id: randomUUID().replaceAll('-', ''), createdSeconds: nowSeconds(), model };
    const { durable } = response.req.context;
    if (durable === undefined) {
      const parts = await this.chat.stream(request, caller, OPTIONS);
      return [parts, { ...head, usage: () => answerUsage(response.req.context), completedSeconds: nowSeconds }];
    }
    const open = (detached: ChatCaller): Promise<PartReader> => this.chat.stream(request, detached, OPTIONS);
    const tail = (record: UsageRecord): KeptEnd => ({ ...usageOf(record), completedSeconds: nowSeconds() });
    const answer = await durable.answer(open, caller, response, { head, tail });
    const { parts } = answer;
    const end = (): KeptEnd => parts.endFacts as KeptEnd;
    return [parts, { ...answer.head, usage: end, completedSeconds: () => end().completedSeconds }];
  }
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}
