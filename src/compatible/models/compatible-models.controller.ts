import { Controller, Get, Param, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { ModelConfig } from '../../config/config.js';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '../../http/open-api/api-decorators.js';
import { ApiErrors } from '../../http/open-api/api-errors.decorator.js';
import { Public, ReadsKey } from '../../http/routing/public.decorator.js';
import { Surface } from '../../http/surface/surface.decorator.js';
import { modelAccessOf } from '../../models/model-access.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { ANTHROPIC_VERSION } from '../shared/api-answer.decorator.js';
import { modelNamed } from '../shared/model-named.js';
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
    const models = this.catalog.allowed(modelAccessOf(request));
    if (!isOfAnthropic(request)) return { object: 'list', data: models.map((model) => openAiModel(model)) };
    const data = models.map((model) => anthropicModel(model));
    return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
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

function openAiModel({ id, name, provider, contextLength }: ModelConfig) {
  return { id, object: 'model', created: CREATED_SECONDS, owned_by: provider, name, context_length: contextLength };
}

function anthropicModel({ id, name }: ModelConfig) {
  return { type: 'model', id, display_name: name, created_at: CREATED_AT };
}
