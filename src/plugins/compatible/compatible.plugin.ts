import { ChatModule } from '../../plugin-api/core/chat.js';
import { ModelsModule } from '../../plugin-api/core/models.js';
import { ChatPlugin } from '../../plugin-api/chat-plugin.decorator.js';
import {
  ChatCompletionsController,
  PageCompletionsController,
} from './chat-completions/chat-completions.controller.js';
import { MessagesController } from './messages/messages.controller.js';
import { CompatibleModelsController } from './models/compatible-models.controller.js';
import { ResponsesController } from './responses/responses.controller.js';
import { CompatibleAnswers } from './shared/compatible-answers.js';

/** Provides the interfaces of other APIs, for clients that were written for them. */
@ChatPlugin({
  name: 'compatible',
  compatibility: '^1',
  imports: [ChatModule, ModelsModule],
  controllers: [
    ChatCompletionsController,
    PageCompletionsController,
    MessagesController,
    CompatibleModelsController,
    ResponsesController,
  ],
  providers: [CompatibleAnswers],
  openApi: [
    // Only the document needs the schemas.
    async (document, exampleModel) => {
      const { describeCompatibleApis } = await import('./open-api/describe-compatible-apis.js');
      describeCompatibleApis(document, exampleModel);
    },
  ],
})
export class CompatiblePlugin {}
