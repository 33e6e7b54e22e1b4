import { Controller, Get, Param, Req } from '@nestjs/common';
import type { Request } from 'express';
import { CAPABILITIES, type Capability, type ModelConfig } from '../../../plugin-api/core/config.js';
import {
  ApiErrors,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
  Public,
  ReadsKey,
  Surface,
} from '../../../plugin-api/core/http.js';
import { modelAccessOf, ModelCatalog } from '../../../plugin-api/core/models.js';
import { ANTHROPIC_VERSION } from '../shared/surface-options.js';
import { modelNamed } from '../shared/compatible-answers.js';
import { anthropicError, openAiError } from '../shared/error-formats.js';

/** The time when a model was created is unknown, but both formats need one. */
const CREATED_SECONDS = 0;
const CREATED_AT = new Date(CREATED_SECONDS).toISOString();

/** `GET /models` and `GET /models/{id}`, in the format of Anthropic for its clients, otherwise in the format of OpenAI. */
@ApiTags('Compatible interfaces')
@Surface({
  name: 'models',
  keyHeader: 'x-api-key',
  keysOnly: true,
  isEnabled: ({ compatibleApis }) => compatibleApis.length > 0,
  headers: (requestId) => ({ 'request-id': requestId }),
  errorBody: (error, request) =>
    isOfAnthropic(request) ? anthropicError(error, request.context.requestId) : openAiError(error),
})
@ApiHeader({ ...ANTHROPIC_VERSION, description: 'With this header, the answer has the format of Anthropic.' })
@Public()
@Controller('models')
export class CompatibleModelsController {
  constructor(private readonly catalog: ModelCatalog) {}

  @Get()
  @ReadsKey()
  @ApiOperation({
    operationId: 'listCompatibleModels',
    summary: 'Lists the models in the format of OpenAI or Anthropic',
  })
  @ApiErrors(401, 'address_not_allowed', 500)
  @ApiOkResponse({
    description:
      'With the header `anthropic-version`, the list has the format of Anthropic. With an API key, it has only the models of the key.',
  })
  list(@Req() request: Request): object {
    const models = this.catalog.allowed(modelAccessOf(request)).flatMap((model) => this.named(model));
    if (!isOfAnthropic(request)) return { object: 'list', data: models.map((model) => openAiModel(model)) };
    const data = models.map((model) => anthropicModel(model));
    return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  }

  /** Returns the model under its id and under each alias. An alias with `*` stands for many names, so the list cannot have it. */
  private named(model: ModelConfig): ModelConfig[] {
    const aliases = (model.aliases ?? []).filter(
      (name) => !name.endsWith('*') && this.catalog.find(name)?.id === model.id,
    );
    return [model, ...aliases.map((id) => ({ ...model, id }))];
  }

  @Get('*id')
  @ReadsKey()
  @ApiOperation({
    operationId: 'getCompatibleModel',
    summary: 'Returns one model in the format of OpenAI or Anthropic',
  })
  @ApiParam({ name: 'id', schema: { type: 'string' }, description: 'The id of a model, or an alias.' })
  @ApiErrors(401, 'address_not_allowed', 'model_not_found', 500)
  @ApiOkResponse({ description: 'The model. The id may contain slashes, and may be an alias.' })
  get(@Param('id') segments: string | readonly string[], @Req() request: Request): object {
    const id = [segments].flat().join('/');
    const model = { ...modelNamed(id, this.catalog, modelAccessOf(request)), id };
    return isOfAnthropic(request) ? anthropicModel(model) : openAiModel(model);
  }
}

function isOfAnthropic({ headers }: Request): boolean {
  return headers['anthropic-version'] !== undefined;
}

function openAiModel({ id, name, provider, contextLength, maxOutputTokens, capabilities = CAPABILITIES }: ModelConfig) {
  return {
    id,
    object: 'model',
    created: CREATED_SECONDS,
    owned_by: provider,
    name,
    context_length: contextLength,
    max_output_tokens: maxOutputTokens ?? null,
    capabilities,
  };
}

function anthropicModel({ id, name, contextLength, maxOutputTokens, capabilities = CAPABILITIES }: ModelConfig) {
  return {
    type: 'model',
    id,
    display_name: name,
    created_at: CREATED_AT,
    max_input_tokens: contextLength,
    max_tokens: maxOutputTokens ?? null,
    capabilities: anthropicCapabilities(capabilities),
  };
}

/** The format has more capabilities than the service knows, and each says whether it is supported. */
function anthropicCapabilities(known: readonly Capability[]) {
  const no = { supported: false };
  const thinking = { supported: known.includes('reasoning') };
  return {
    ...{ batch: no, citations: no, code_execution: no, pdf_input: no, context_management: no, server_tools: no },
    image_input: { supported: known.includes('images') },
    structured_outputs: { supported: known.includes('structured_output') },
    thinking: {
      ...thinking,
      types: { adaptive: thinking, between_tools: thinking, disabled: thinking, enabled: thinking },
    },
    effort: { ...thinking, low: thinking, medium: thinking, high: thinking, xhigh: thinking, max: thinking },
  };
}
