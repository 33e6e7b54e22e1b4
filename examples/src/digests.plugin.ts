import { Body, Controller, HttpCode, Inject, Post, Res } from '@nestjs/common';
import {
  ApiErrors,
  Caller,
  ChatPlugin,
  ChatService,
  LimitedByTier,
  OpensStream,
  PLUGIN_CONFIG,
  sseEvent,
  StreamSender,
  type ChatCaller,
  type CompletionPart,
  type StreamFormat,
} from 'chat-streaming-service';
import { ArrayMaxSize, ArrayMinSize, IsString, Length } from 'class-validator';
import type { Response } from 'express';
import { z } from 'zod';

const Config = z.strictObject({
  /** The model that reads and writes. */
  model: z.string(),
});

const MAX_NOTE_TOKENS = 200;
const MAX_DIGEST_TOKENS = 500;

export class DigestRequest {
  @Length(1, 20_000, { each: true, message: 'must have 1 to 20,000 characters each' })
  @IsString({ each: true, message: 'must be strings' })
  @ArrayMinSize(1)
  @ArrayMaxSize(10)
  readonly texts!: string[];
}

const EVENTS: StreamFormat = {
  contentType: 'text/event-stream; charset=utf-8',
  part: (part) => (part.type === 'text' ? sseEvent({ text: part.text }) : undefined),
  keepAlive: () => ': keep-alive\n\n',
  end: () => sseEvent({ done: true }),
  error: ({ code, message }) => sseEvent({ code, message }, 'error'),
};

/** `POST /api/v1/digests`: takes notes of each text at the same time, and then streams a digest of all notes. */
@Controller('digests')
@LimitedByTier({
  body: DigestRequest,
  tokensOf: ({ texts }) => {
    const read = texts.reduce((sum, { length }) => sum + Math.ceil(length / 3), 0);
    return { atLeast: 1, atMost: read + 2 * texts.length * MAX_NOTE_TOKENS + MAX_DIGEST_TOKENS };
  },
})
export class DigestsController {
  constructor(
    private readonly chat: ChatService,
    private readonly streams: StreamSender,
    @Inject(PLUGIN_CONFIG) private readonly config: z.infer<typeof Config>,
  ) {}

  @Post()
  @HttpCode(200)
  @OpensStream()
  @ApiErrors(400, 401, 429, 502, 503, 504)
  async digest(
    @Body() { texts }: DigestRequest,
    @Caller() caller: ChatCaller,
    @Res() response: Response,
  ): Promise<void> {
    const parts = await this.chat.compose((own) => this.steps(texts, own), caller);
    this.streams.send(parts, EVENTS, response);
  }

  private async *steps(texts: readonly string[], caller: ChatCaller): AsyncIterable<CompletionPart> {
    const notes = await Promise.all(
      texts.map((text) => this.chat.complete(this.request('Take notes of the text.', text, MAX_NOTE_TOKENS), caller)),
    );
    const all = notes.map(({ text }) => text).join('\n\n');
    yield* await this.chat.stream(this.request('Write a digest of the notes.', all, MAX_DIGEST_TOKENS), caller);
  }

  private request(task: string, text: string, maxTokens: number) {
    const messages = [
      { role: 'system' as const, content: task },
      { role: 'user' as const, content: text },
    ];
    return { model: this.config.model, messages, max_tokens: maxTokens };
  }
}

@ChatPlugin({ name: 'digests', compatibility: '^1', config: Config, controllers: [DigestsController] })
export class DigestsPlugin {}
