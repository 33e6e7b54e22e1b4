import { CacheModule } from '@nestjs/cache-manager';
import { Module } from '@nestjs/common';
import { ModelCatalog } from './model-catalog.js';
import { ModelsController } from './models.controller.js';

/** The curated models and their public list. */
@Module({
  imports: [CacheModule.register()],
  controllers: [ModelsController],
  providers: [ModelCatalog],
  exports: [ModelCatalog],
})
export class ModelsModule {}
