import { Module } from '@nestjs/common';
import { ChatModule } from '../../chat/chat.module.js';
import { ModelsModule } from '../../models/models.module.js';
import { ChatCompletionsController } from './chat-completions/chat-completions.controller.js';
import { PageCompletionsController } from './chat-completions/page-completions.controller.js';
import { MessagesController } from './messages/messages.controller.js';
import { CompatibleModelsController } from './models/compatible-models.controller.js';
import { ResponsesController } from './responses/responses.controller.js';
import { CompatibleAnswers } from './shared/compatible-answers.js';

/** Provides the interfaces of other APIs, for clients that were written for them. */
@Module({
  imports: [ChatModule, ModelsModule],
  controllers: [
    ChatCompletionsController,
    PageCompletionsController,
    MessagesController,
    CompatibleModelsController,
    ResponsesController,
  ],
  providers: [CompatibleAnswers],
})
export class CompatibleModule {}
