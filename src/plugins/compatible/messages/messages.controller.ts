import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Caller, type ChatCaller, ChatService } from '../../../plugin-api/core/chat.js';
import {
  ApiBearerAuth,
  ApiErrors,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  BodyClass,
  BodyValues,
  ROUTE_RATE_HEADERS,
  Surface,
} from '../../../plugin-api/core/http.js';
import { modelAccessOf, ModelCatalog } from '../../../plugin-api/core/models.js';
import { RateLimited } from '../../../plugin-api/core/throttling.js';
import { promptTokens } from '../../../plugin-api/core/upstreams.js';
import { ANTHROPIC_VERSION, ApiAnswer, IGNORED_PARAMETERS } from '../shared/api-answer.decorator.js';
import { anthropicError } from '../shared/error-formats.js';
import { CompatibleAnswers } from '../shared/compatible-answers.js';
import { placedField, withBodyFields } from '../shared/body-fields.js';
import { modelNamed } from '../shared/model-named.js';
import { requireRoom, withTokenCounts } from './token-limits.js';
import { AnswersConversation, compatibleSurface, MAX_COMPATIBLE_BODY_VALUES } from '../shared/surface-options.js';
import { messagesFormat } from './answer/messages-format.js';
import { MESSAGES_NAMES } from './body/body-names.js';
import { COUNT_TOKENS_PARSER, MESSAGES_PARSER } from './body/messages-parser.js';
import type { MappedRequest, MessagesRequest } from './body/messages-request.js';

/** `POST /messages`: the interface of Anthropic's Messages, for clients that were written for it. */
@ApiTags('Compatible interfaces')
@ApiBearerAuth()
@Surface({
  ...compatibleSurface('messages'),
  headers: (requestId) => ({ 'request-id': requestId }),
  errorBody: (error, { context }) => anthropicError(error, context.requestId),
})
@Controller('messages')
export class MessagesController {
  constructor(
    private readonly answers: CompatibleAnswers,
    private readonly chat: ChatService,
    private readonly catalog: ModelCatalog,
  ) {}

  @AnswersConversation(MESSAGES_PARSER)
  @ApiAnswer({
    operationId: 'createMessage',
    summary: 'Answers a conversation in the format of Anthropic Messages',
    description:
      'The body and the answer have the format of Messages. Parameters without an effect are named in ' +
      '`X-Ignored-Parameters`.',
    answer: 'A message, or with `"stream": true` a stream of events.',
  })
  @ApiHeader({ ...ANTHROPIC_VERSION, description: 'Accepted with any value.' })
  async create(
    @Body() request: MessagesRequest,
    @Caller() caller: ChatCaller,
    @Res() response: Response,
  ): Promise<void> {
    const { conversation } = request;
    const model = modelNamed(conversation.model, this.catalog, modelAccessOf(response.req));
    await requireRoom(conversation, model, caller.principal.tier);
    const format = messagesFormat(request, caller.requestId);
    try {
      await this.answers.answer(request, caller, response, format);
    } catch (error) {
      throw withTokenCounts(error, conversation, model);
    }
  }

  @Post('count_tokens')
  @HttpCode(200)
  @RateLimited('token_counts')
  @BodyClass(COUNT_TOKENS_PARSER)
  @BodyValues(MAX_COMPATIBLE_BODY_VALUES)
  @ApiOperation({
    operationId: 'countMessageTokens',
    summary: 'Estimates the tokens of a conversation in the format of Anthropic Messages',
    description: 'The estimate is the one of the ledger: within about 10 % of the tokenizers of large providers.',
  })
  @ApiHeader({ ...ANTHROPIC_VERSION, description: 'Accepted with any value.' })
  @ApiOkResponse({
    description: 'The number of tokens of the prompt.',
    headers: { ...IGNORED_PARAMETERS, ...ROUTE_RATE_HEADERS },
  })
  @ApiErrors('invalid_request', 401, 403, 'model_not_found', 413, 415, 429, 500, 'unavailable')
  async countTokens(
    @Body() { conversation, mapped }: MappedRequest,
    @Req() request: Request,
  ): Promise<{ readonly input_tokens: number }> {
    const { id } = modelNamed(conversation.model, this.catalog, modelAccessOf(request));
    try {
      const valid = await this.chat.validated({ ...conversation, model: id });
      return { input_tokens: Math.max(1, (await promptTokens(valid)).estimated) };
    } catch (error) {
      throw withBodyFields(error, (field) => placedField(field, mapped, MESSAGES_NAMES));
    }
  }
}
