import { Body, Controller, Res } from '@nestjs/common';
import type { Response } from 'express';
import { SessionOnly } from '../../../plugin-api/core/auth.js';
import { Caller, type ChatCaller, STREAM_ID_HEADER } from '../../../plugin-api/core/chat.js';
import { ApiBearerAuth, ApiExcludeController, ApiTags, Surface } from '../../../plugin-api/core/http.js';
import { ApiAnswer, AnswersConversation, compatibleSurface } from '../shared/surface-options.js';
import { CompatibleAnswers } from '../shared/compatible-answers.js';
import { openAiErrorBody } from '../shared/error-formats.js';
import { chatCompletionsFormat } from './chat-completions-answer.js';
import { CHAT_COMPLETIONS_BODY, type ChatCompletionsRequest } from './chat-completions-request.js';

/** `POST /chat/completions`: the interface of OpenAI's Chat Completions, for clients that were written for it. */
@ApiTags('Compatible interfaces')
@ApiBearerAuth()
@Surface({ ...compatibleSurface('chat-completions'), answersUnknownPaths: true, errorBody: openAiErrorBody })
@Controller('chat/completions')
export class ChatCompletionsController {
  constructor(private readonly answers: CompatibleAnswers) {}

  @AnswersConversation(CHAT_COMPLETIONS_BODY)
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

/**
 * `POST /playground/completions`: the body and the stream of `POST /chat/completions` for the session of a page. The playground sends
 * images and tools here, which `POST /chat/stream` does not take. It does not depend on `COMPATIBLE_APIS`, and other pages cannot use it.
 */
@ApiExcludeController()
@SessionOnly()
@Controller('playground/completions')
export class PageCompletionsController {
  constructor(private readonly answers: CompatibleAnswers) {}

  @AnswersConversation(CHAT_COMPLETIONS_BODY)
  async create(
    @Body() request: ChatCompletionsRequest,
    @Caller() caller: ChatCaller,
    @Res() response: Response,
  ): Promise<void> {
    const { durable } = response.req.context;
    // The page ends the answer by this id when its user stops it.
    if (durable !== undefined) response.setHeader(STREAM_ID_HEADER, durable.streamId);
    await this.answers.answer(request, caller, response, chatCompletionsFormat(request));
  }
}
