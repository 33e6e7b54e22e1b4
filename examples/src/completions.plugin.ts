import { Body, Controller, Post, Res } from '@nestjs/common';
import {
  ApiErrors,
  Caller,
  ChatPlugin,
  ChatRequest,
  ChatService,
  LimitedByTier,
  OpensStream,
  ServiceError,
  sseEvent,
  StreamSender,
  Surface,
  type ChatCaller,
  type StreamFormat,
} from 'chat-streaming-service';
import { IsBoolean, IsOptional } from 'class-validator';
import type { Response } from 'express';

export class CompletionsRequest extends ChatRequest {
  @IsBoolean({ message: 'must be a boolean' })
  @IsOptional()
  readonly stream?: boolean;
}

/** Every error below the path has this body, also 404, 405 and 413. */
const errorBody = ({ code, message }: ServiceError) => ({ error: { message, code, type: 'acme_error' } });
const finishReasonOf = (reason: string) => (reason === 'length' ? 'length' : 'stop');

/** One answer as chunks. Has state, so each response needs its own. */
function chunksOf(id: string, model: string): StreamFormat {
  let finish = 'stop';
  const chunk = (delta: object, reason: string | null = null) =>
    sseEvent({ id, model, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] });
  return {
    contentType: 'text/event-stream; charset=utf-8',
    part(part) {
      if (part.type === 'finish') finish = finishReasonOf(part.reason);
      return part.type === 'text' ? chunk({ role: 'assistant', content: part.text }) : undefined;
    },
    keepAlive: () => ': keep-alive\n\n',
    end: () => `${chunk({}, finish)}data: [DONE]\n\n`,
    error: (error) => sseEvent(errorBody(error)),
  };
}

/** `POST /api/v1/acme/chat/completions`: texts in the format of OpenAI, at a path of the company. */
@Controller('acme/chat/completions')
@Surface({ name: 'acme-completions', keysOnly: true, ignoresUnknown: true, errorBody })
@LimitedByTier({
  body: CompletionsRequest,
  tokensOf: ({ messages, max_tokens = 1_000 }) => ({ atLeast: 1, atMost: messages.length * 500 + max_tokens }),
})
export class CompletionsController {
  constructor(
    readonly chat: ChatService,
    readonly streams: StreamSender,
  ) {}

  @Post()
  @OpensStream()
  @ApiErrors(400, 401, 404, 429, 502, 503, 504)
  async create(@Body() body: CompletionsRequest, @Caller() caller: ChatCaller, @Res() response: Response) {
    const { stream = false, ...request } = body;
    if (stream) {
      const parts = await this.chat.stream(request, caller);
      return this.streams.send(parts, chunksOf(parts.recordId, body.model), response);
    }
    const { text, finishReason, record } = await this.chat.complete(request, caller);
    const [prompt_tokens = 0, completion_tokens = 0] = [record.inputTokens.count, record.outputTokens.count];
    const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
    const [message, finish_reason] = [{ role: 'assistant', content: text }, finishReasonOf(finishReason)];
    const choices = [{ index: 0, message, finish_reason }];
    response.status(200).json({ id: record.id, object: 'chat.completion', model: body.model, choices, usage });
  }
}

@ChatPlugin({ name: 'completions', compatibility: '^1', controllers: [CompletionsController] })
export class CompletionsPlugin {}
