import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { SessionOnly } from '../../../auth/session/session.guard.js';
import { Caller, type ChatCaller } from '../../../chat/chat-caller.js';
import { Durable } from '../../../chat/durable/durable-request.js';
import { STREAM_ID_HEADER } from '../../../chat/durable/durable-streams.js';
import { tokenDemand } from '../../../chat/request/token-demand.js';
import { BodyValues } from '../../../platform/http/body/json/body-values.decorator.js';
import { ApiExcludeController } from '../../../platform/http/open-api/api-decorators.js';
import { PartOf } from '../../../platform/http/surface/part-of.decorator.js';
import { LimitedByTier } from '../../../throttling/limited-by-tier.decorator.js';
import { OpensStream } from '../../../throttling/process-load/opens-stream.decorator.js';
import { CompatibleAnswers } from '../shared/compatible-answers.js';
import { DURABLE_CONVERSATION, MAX_COMPATIBLE_BODY_VALUES } from '../shared/surface-options.js';
import { chatCompletionsFormat } from './chat-completions-answer.js';
import { CHAT_COMPLETIONS_BODY, type ChatCompletionsRequest } from './chat-completions-request.js';

/**
 * `POST /playground/completions`: the body and the stream of `POST /chat/completions` for the session of a page. The playground sends
 * images and tools here, which `POST /chat/stream` does not take. It does not depend on `COMPATIBLE_APIS`, and other pages cannot use it.
 */
@ApiExcludeController()
@PartOf('compatible')
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
    if (durable !== undefined) response.setHeader(STREAM_ID_HEADER, durable.stream.id);
    await this.answers.answer(request, caller, response, chatCompletionsFormat(request));
  }
}
