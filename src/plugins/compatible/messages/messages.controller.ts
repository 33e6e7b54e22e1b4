import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Caller, type ChatCaller, ChatService } from '../../../plugin-api/core/chat.js';
import { ServiceError } from '../../../plugin-api/core/common.js';
import type { ModelConfig, TierConfig } from '../../../plugin-api/core/config.js';
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
import { type ConversationRequest, promptTokens, promptTokensNow } from '../../../plugin-api/core/upstreams.js';
import {
  ANTHROPIC_VERSION,
  ApiAnswer,
  IGNORED_PARAMETERS,
  AnswersConversation,
  compatibleSurface,
  MAX_COMPATIBLE_BODY_VALUES,
} from '../shared/surface-options.js';
import { placedField, withBodyFields, isTooLong, anthropicError } from '../shared/error-formats.js';
import { CompatibleAnswers, modelNamed } from '../shared/compatible-answers.js';
import { messagesFormat } from './answer/messages-format.js';
import {
  MESSAGES_NAMES,
  COUNT_TOKENS_PARSER,
  MESSAGES_PARSER,
  type MappedRequest,
  type MessagesRequest,
} from './body/messages-request.js';

/** The estimate of a prompt is within 10 %. A prompt is refused without asking the provider only if it is certainly too long. */
const CERTAIN_SHARE = 0.9;

/**
 * Refuses a request with too many tokens in Anthropic's own sentences: clients read the numbers, and send a request that fits.
 *
 * @throws {ServiceError} `invalid_request`.
 */
async function requireRoom(request: ConversationRequest, model: ModelConfig, tier: TierConfig): Promise<void> {
  const { max_tokens: wanted = 0 } = request;
  const { contextLength, maxOutputTokens = Infinity } = model;
  const limit = Math.min(contextLength, maxOutputTokens, tier.maxTokens ?? Infinity);
  if (wanted > limit) {
    throw refusal(
      `max_tokens: ${wanted} > ${limit}, which is the maximum allowed number of output tokens for ${request.model}`,
    );
  }
  const { estimated: prompt } = await promptTokens(request);
  if (prompt * CERTAIN_SHARE + wanted > contextLength) throw noRoom(prompt, wanted, contextLength);
}

/** Returns the error of a provider in Anthropic's words, if the prompt was too long for the provider. */
function withTokenCounts(error: unknown, request: ConversationRequest, { contextLength }: ModelConfig): unknown {
  if (!(error instanceof ServiceError) || !isTooLong(error)) return error;
  return noRoom(promptTokensNow(request).estimated, request.max_tokens ?? 0, contextLength);
}

function noRoom(prompt: number, wanted: number, contextLength: number): ServiceError {
  const fitsAlone = prompt <= contextLength && prompt + wanted > contextLength;
  return refusal(
    fitsAlone
      ? `input length and \`max_tokens\` exceed context limit: ${prompt} + ${wanted} > ${contextLength}, decrease input ` +
          'length or `max_tokens` and try again'
      : `prompt is too long: ${Math.max(prompt, contextLength + 1)} tokens > ${contextLength} maximum`,
  );
}

/** Without details, the message is sent as it is. */
function refusal(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}

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
