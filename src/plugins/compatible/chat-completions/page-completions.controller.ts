import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { SessionOnly } from '../../../plugin-api/core/auth.js';
import { Caller, type ChatCaller, Durable, STREAM_ID_HEADER, tokenDemand } from '../../../plugin-api/core/chat.js';
import { ApiExcludeController, BodyValues } from '../../../plugin-api/core/http.js';
import { LimitedByTier, OpensStream } from '../../../plugin-api/core/throttling.js';
import { CompatibleAnswers } from '../shared/compatible-answers.js';
import { DURABLE_CONVERSATION, MAX_COMPATIBLE_BODY_VALUES } from '../shared/surface-options.js';
import { chatCompletionsFormat } from './chat-completions-answer.js';
import { CHAT_COMPLETIONS_BODY, type ChatCompletionsRequest } from './chat-completions-request.js';

/**
 * `POST /playground/completions`: the body and the stream of `POST /chat/completions` for the session of a page. The playground sends
 * images and tools here, which `POST /chat/stream` does not take. It does not depend on `COMPATIBLE_APIS`, and other pages cannot use it.
 */
@ApiExcludeController()
@SessionOnly()
@LimitedByTier<ChatCompletionsRequest>({
  body: CHAT_COMPLETIONS_BODY,
  tokensOf: ({ conversation }, tier, limit) => tokenDemand(conversation, tier, limit),
})
@Controller('playground/completions')
export class PageCompletionsController {
  constructor(private readonly answers: CompatibleAnswers) {}

  @Post()
  @HttpCode(200)
  @OpensStream()
  @Durable(DURABLE_CONVERSATION)
  @BodyValues(MAX_COMPATIBLE_BODY_VALUES)
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
