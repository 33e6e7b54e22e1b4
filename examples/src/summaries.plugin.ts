import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import {
  ApiErrors,
  Caller,
  ChatPlugin,
  ChatService,
  LimitedByTier,
  PLUGIN_CONFIG,
  type ChatCaller,
} from 'chat-streaming-service';
import { IsString, Length } from 'class-validator';
import { z } from 'zod';

const Config = z.strictObject({
  /** The model that writes the summaries. */
  model: z.string(),
});

const MAX_ANSWER_TOKENS = 300;

export class SummaryRequest {
  @Length(1, 20_000, { message: 'must have 1 to 20,000 characters' })
  @IsString({ message: 'must be a string' })
  readonly text!: string;
}

/** `POST /api/v1/summaries`: calls a model, and answers JSON. The limits of the tier apply, and the ledger has a record. */
@Controller('summaries')
@LimitedByTier({
  body: SummaryRequest,
  tokensOf: ({ text }) => ({ atLeast: 1, atMost: Math.ceil(text.length / 3) + MAX_ANSWER_TOKENS }),
})
export class SummariesController {
  constructor(
    private readonly chat: ChatService,
    @Inject(PLUGIN_CONFIG) private readonly config: z.infer<typeof Config>,
  ) {}

  @Post()
  @HttpCode(200)
  @ApiErrors(400, 401, 429, 502, 503, 504)
  async sumUp(@Body() { text }: SummaryRequest, @Caller() caller: ChatCaller) {
    const messages = [
      { role: 'system' as const, content: 'Sum up what the user writes in three sentences.' },
      { role: 'user' as const, content: text },
    ];
    const request = { model: this.config.model, messages, max_tokens: MAX_ANSWER_TOKENS };
    const { text: summary, finishReason } = await this.chat.complete(request, caller);
    return { summary, is_cut: finishReason === 'length' };
  }
}

@ChatPlugin({ name: 'summaries', compatibility: '^1', config: Config, controllers: [SummariesController] })
export class SummariesPlugin {}
