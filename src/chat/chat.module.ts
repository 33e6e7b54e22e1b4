import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ModelsModule } from '../models/models.module.js';
import { ChatController } from './chat.controller.js';
import { ChatService } from './chat.service.js';
import { ConversationValidation } from './request/conversation/conversation-validation.js';
import { CompletionHooks } from './hooks/completion-hooks.js';
import { InterChunkLatencies } from './stream/inter-chunk-latencies.js';
import { OpenStreams } from './stream/open-streams.js';
import { StreamSender } from './stream/stream-sender.js';

/** Provides streamed chat completions. */
@Module({
  imports: [AccountsModule, ModelsModule],
  controllers: [ChatController],
  providers: [ChatService, ConversationValidation, CompletionHooks, InterChunkLatencies, OpenStreams, StreamSender],
  exports: [ChatService, InterChunkLatencies, OpenStreams, StreamSender],
})
export class ChatModule {}
