import { CacheModule } from '@nestjs/cache-manager';
import { Module } from '@nestjs/common';
import { Keyv, type KeyvOptions } from 'keyv';
import { ConfigReload } from './config-reload.js';
import { ModelCatalog } from './model-catalog.js';
import { ModelsController } from './models.controller.js';
import { SourcedModels } from './sourced-models.js';

/**
 * Keeps values in memory without a conversion to JSON, which would be parsed for each request. Keyv documents
 * `undefined` for this purpose, but its types do not allow it.
 */
const AS_IT_IS = { serialize: undefined, deserialize: undefined } as unknown as KeyvOptions;

/** Provides the configured models and their public list. */
@Module({
  imports: [CacheModule.register({ stores: [new Keyv(AS_IT_IS)] })],
  controllers: [ModelsController],
  providers: [ModelCatalog, SourcedModels, ConfigReload],
  exports: [ModelCatalog, ConfigReload],
})
export class ModelsModule {}
