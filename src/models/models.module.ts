import { Module } from '@nestjs/common';
import { ConfigReload } from './config-reload.js';
import { ModelCatalog } from './model-catalog.js';
import { ModelsController } from './models.controller.js';
import { SourcedModels } from './sourced-models.js';

/** Provides the configured models and their public list. */
@Module({
  controllers: [ModelsController],
  providers: [ModelCatalog, SourcedModels, ConfigReload],
  exports: [ModelCatalog, ConfigReload],
})
export class ModelsModule {}
