import { Body, Controller, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Caller, type ChatCaller } from '../../../plugin-api/core/chat.js';
import { ApiBearerAuth, ApiTags, Surface } from '../../../plugin-api/core/http.js';
import { ApiAnswer } from '../shared/api-answer.decorator.js';
import { CompatibleAnswers } from '../shared/compatible-answers.js';
import { openAiErrorBody } from '../shared/error-formats.js';
import { AnswersConversation, compatibleSurface } from '../shared/surface-options.js';
import { RESPONSES_BODY, type ResponsesRequest } from './request/responses-request.js';
import { responsesFormat } from './responses-answer.js';

/** `POST /responses`: the interface of Open Responses, for clients that were written for it. Nothing is stored. */
@ApiTags('Compatible interfaces')
@ApiBearerAuth()
@Surface({ ...compatibleSurface('responses'), answersUnknownPaths: true, errorBody: openAiErrorBody })
@Controller('responses')
export class ResponsesController {
  constructor(private readonly answers: CompatibleAnswers) {}

  @AnswersConversation(RESPONSES_BODY)
  @ApiAnswer({
    operationId: 'createResponse',
    summary: 'Answers a conversation in the format of Open Responses',
    description:
      'The body and the answer have the format of Open Responses, version 2026-04-24. The service stores no responses: send ' +
      'all items of the conversation. Parameters without an effect are named in `X-Ignored-Parameters`.',
    answer: 'A response, or with `"stream": true` a stream of events.',
  })
  async create(
    @Body() request: ResponsesRequest,
    @Caller() caller: ChatCaller,
    @Res() response: Response,
  ): Promise<void> {
    await this.answers.answer(request, caller, response, responsesFormat(request));
  }
}
