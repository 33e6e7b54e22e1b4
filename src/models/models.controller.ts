import {
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiResponse,
  ApiTags,
} from '../platform/http/open-api/api-decorators.js';
import { CACHE_MANAGER, type Cache } from '@nestjs/cache-manager';
import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { createHash } from 'node:crypto';
import { DirectRoute } from '../platform/http/routing/direct-routes.js';
import { Public, ReadsKey } from '../platform/http/routing/route-decorators.js';
import { ApiErrors } from '../platform/http/open-api/api-errors.decorator.js';
import type { ModelConfig } from '../platform/config/config.js';
import { modelAccessOf, ModelCatalog, type ModelAccess } from './model-catalog.js';

class ModelEntry {
  @ApiProperty({
    description: 'The value of `model` in a chat request: `<vendor>/<model_name>`.',
    example: 'builtin/eliza',
  })
  readonly id!: string;

  @ApiProperty({ description: 'Display name.' })
  readonly name!: string;

  @ApiProperty({ description: 'Display name of the company that offers the model.' })
  readonly provider!: string;

  @ApiProperty({ description: 'Context length in tokens.', type: 'integer', example: 8192 })
  readonly context_length!: number;
}

class ModelList {
  @ApiProperty({ type: [ModelEntry] })
  readonly models!: ModelEntry[];
}

const CACHE_CONTROL = 'public, max-age=60, stale-while-revalidate=600';
/** The list for an API key: a cache must ask again each time, because the limits of the key can change. */
const CACHE_CONTROL_OF_KEY = 'private, no-cache';

const CACHE_HEADERS = {
  ETag: { description: 'Identifies this version of the list.', schema: { type: 'string' } },
  'Cache-Control': { schema: { type: 'string' }, description: 'How long the list may be kept.' },
} as const;

const CACHE_KEY = 'models';

/** The list in the form in which it is sent. */
interface RenderedList {
  /** The models in the list. */
  readonly models: readonly ModelConfig[];
  readonly json: string;
  /** The number of bytes of the JSON. */
  readonly length: number;
  readonly etag: string;
}

@ApiTags('Models')
@Controller('chat/models')
export class ModelsController {
  /** What the cache has, so that most requests need not wait for the cache. */
  private held: RenderedList | undefined;

  constructor(
    private readonly catalog: ModelCatalog,
    @Inject(CACHE_MANAGER) private readonly cache: Cache,
  ) {
    const release = (): void => {
      this.held = undefined;
    };
    for (const change of ['set', 'del', 'clear'] as const) cache.on(change, release);
  }

  @Public()
  @DirectRoute()
  @ReadsKey()
  @Get()
  @ApiOperation({
    operationId: 'listModels',
    summary: 'Lists the available models',
    description: 'With an API key, the list has only the models that the key may use.',
  })
  @ApiHeader({
    name: 'If-None-Match',
    required: false,
    description: 'The `ETag` of the list that the client has.',
    schema: { type: 'string' },
  })
  @ApiOkResponse({ type: ModelList, headers: CACHE_HEADERS })
  @ApiErrors('address_not_allowed')
  @ApiResponse({
    status: 304,
    description: 'The list has not changed: it still matches `If-None-Match`.',
    headers: CACHE_HEADERS,
  })
  async list(@Req() request: Request, @Res() response: Response): Promise<void> {
    const access = modelAccessOf(request);
    const held = access === undefined && this.held?.models === this.catalog.all() ? this.held : undefined;
    const { json, length, etag } = held ?? (await this.listFor(access));
    response.setHeader('Cache-Control', access === undefined ? CACHE_CONTROL : CACHE_CONTROL_OF_KEY);
    response.setHeader('Vary', 'Authorization');
    response.setHeader('ETag', etag);
    if (request.headers['if-none-match'] !== undefined && request.fresh) {
      response.statusCode = 304;
      response.end();
      return;
    }
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', length);
    response.end(json);
  }

  /** Renders the list of all models again only after they have changed. */
  private async listFor(access: ModelAccess | undefined): Promise<RenderedList> {
    if (access !== undefined) return render(this.catalog.allowed(access));
    const models = this.catalog.all();
    const cached = await this.cache.get<RenderedList>(CACHE_KEY);
    const current = cached?.models === models ? cached : await this.cache.set(CACHE_KEY, render(models));
    this.held = current;
    return current;
  }
}

function render(models: readonly ModelConfig[]): RenderedList {
  const list: ModelList = {
    models: models.map(({ id, name, provider, contextLength }) => ({
      id,
      name,
      provider,
      context_length: contextLength,
    })),
  };
  const json = JSON.stringify(list);
  return {
    models,
    json,
    length: Buffer.byteLength(json),
    etag: `"${createHash('sha256').update(json).digest('base64url').slice(0, 27)}"`,
  };
}
