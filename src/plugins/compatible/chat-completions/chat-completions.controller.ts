import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Caller, type ChatCaller, Durable, tokenDemand } from '../../../plugin-api/core/chat.js';
import { ApiBearerAuth, ApiTags, BodyValues, Surface } from '../../../plugin-api/core/http.js';
import { LimitedByTier, OpensStream } from '../../../plugin-api/core/throttling.js';
import { ApiAnswer } from '../shared/api-answer.decorator.js';
import { CompatibleAnswers } from '../shared/compatible-answers.js';
import { openAiErrorBody } from '../shared/error-formats.js';
import { compatibleSurface, MAX_COMPATIBLE_BODY_VALUES, DURABLE_CONVERSATION } from '../shared/surface-options.js';
import { chatCompletionsFormat } from './chat-completions-answer.js';
import { CHAT_COMPLETIONS_BODY, type ChatCompletionsRequest } from './chat-completions-request.js';

/** `POST /chat/completions`: the interface of OpenAI's Chat Completions, for clients that were written for it. */
@ApiTags('Compatible interfaces')
@ApiBearerAuth()
@Surface({ ...compatibleSurface('chat-completions'), answersUnknownPaths: true, errorBody: openAiErrorBody })
@LimitedByTier<ChatCompletionsRequest>({
  body: CHAT_COMPLETIONS_BODY,
  tokensOf: ({ conversation }, tier, limit) => tokenDemand(conversation, tier, limit),
})
@Controller('chat/completions')
export class ChatCompletionsController {
  constructor(private readonly answers: CompatibleAnswers) {}

  @Post()
  @HttpCode(200)
  @OpensStream()
  @Durable(DURABLE_CONVERSATION)
  @BodyValues(MAX_COMPATIBLE_BODY_VALUES)
  @ApiAnswer({
    operationId: 'createChatCompletion',
    summary: 'Answers a conversation in the format of OpenAI Chat Completions',
    description:
      'The body and the answer have the format of Chat Completions. Parameters without an effect are named in ' +
      '`X-Ignored-Parameters`.',
    answer: 'A completion, or with `"stream": true` a stream of chunks.',
  })
  async create(
    @Body() request: ChatCompletionsRequest,
    @Caller() caller: ChatCaller,
    @Res() response: Response,
  ): Promise<void> {
    await this.answers.answer(request, caller, response, chatCompletionsFormat(request));
  }
}
