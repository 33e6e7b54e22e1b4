import { Body, Controller, HttpCode, Inject, Post, Res } from '@nestjs/common';
import {
  ApiErrors,
  Caller,
  ChatPlugin,
  ChatService,
  LimitedByTier,
  OpensStream,
  PLUGIN_CONFIG,
  StreamSender,
  type ChatCaller,
  type StreamFormat,
} from 'chat-streaming-service';
import { IsString, Length } from 'class-validator';
import type { Response } from 'express';
import { z } from 'zod';

const Config = z.strictObject({
  /** The model that translates. */
  model: z.string(),
});

export class TranslationRequest {
  @Length(1, 20_000, { message: 'must have 1 to 20,000 characters' })
  @IsString({ message: 'must be a string' })
  readonly text!: string;

  @Length(2, 40, { message: 'must have 2 to 40 characters' })
  @IsString({ message: 'must be a string' })
  readonly language!: string;
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;

/** One JSON object a line (NDJSON). Readers skip the empty line of the keep-alive. */
const LINES: StreamFormat = {
  contentType: 'application/x-ndjson; charset=utf-8',
  part: (part) => (part.type === 'text' ? line({ text: part.text }) : undefined),
  keepAlive: () => '\n',
  end: () => line({ done: true }),
  error: ({ code, message }) => line({ error: { code, message } }),
};

/** `POST /api/v1/translations`: streams the answer of a model in another format than `POST /chat/stream`. */
@Controller('translations')
@LimitedByTier({
  body: TranslationRequest,
  tokensOf: ({ text }) => ({ atLeast: 1, atMost: Math.ceil((text.length / 3) * 2) }),
})
export class TranslationsController {
  constructor(
    private readonly chat: ChatService,
    private readonly streams: StreamSender,
    @Inject(PLUGIN_CONFIG) private readonly config: z.infer<typeof Config>,
  ) {}

  @Post()
  @HttpCode(200)
  @OpensStream()
  @ApiErrors(400, 401, 429, 502, 503, 504)
  async translate(
    @Body() { text, language }: TranslationRequest,
    @Caller() caller: ChatCaller,
    @Res() response: Response,
  ): Promise<void> {
    const messages = [
      { role: 'system' as const, content: `Translate what the user writes. The target language is ${language}.` },
      { role: 'user' as const, content: text },
    ];
    const parts = await this.chat.stream({ model: this.config.model, messages }, caller);
    this.streams.send(parts, LINES, response);
  }
}

@ChatPlugin({ name: 'translator', compatibility: '^1', config: Config, controllers: [TranslationsController] })
export class TranslatorPlugin {}
