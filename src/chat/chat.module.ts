import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ModelsModule } from '../models/models.module.js';
import { ChatController } from './chat.controller.js';
import { ChatService } from './chat.service.js';
import { CompletionHooks } from './hooks/completion-hooks.js';
import { ChunkGaps } from './stream/chunk-gaps.js';
import { OpenStreams } from './stream/open-streams.js';

/** Provides streamed chat completions. */
@Module({
  imports: [AccountsModule, ModelsModule],
  controllers: [ChatController],
  providers: [ChatService, CompletionHooks, ChunkGaps, OpenStreams],
  exports: [ChatService, ChunkGaps, OpenStreams],
})
export class ChatModule {}
