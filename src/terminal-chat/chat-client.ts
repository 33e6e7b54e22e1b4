import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import { ChatFailure, IncompleteAnswer } from './chat-failure.js';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
}

const ErrorBody = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    request_id: z.string().optional(),
    details: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  }),
});
const Models = z.object({
  models: z.array(z.object({ id: z.string(), name: z.string(), provider: z.string(), context_length: z.number() })),
});
const Chunk = z.object({ content: z.string(), done: z.boolean() });

export type Model = z.infer<typeof Models>['models'][number];

/** A client for the HTTP API of the service. */
export class ChatClient {
  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  async models(): Promise<Model[]> {
    const response = await this.fetch('/chat/models', {});
    return Models.parse(await response.json()).models;
  }

  async firstModel(): Promise<string> {
    const [first] = await this.models();
    if (first === undefined) throw new ChatFailure('The service has no models.');
    return first.id;
  }

  /**
   * Yields the text of the answer as it arrives. Returns when the service reports that the answer is complete, and when the
   * signal aborts.
   *
   * @throws {ChatFailure} if there is no answer.
   * @throws {IncompleteAnswer} if the answer breaks off.
   */
  async *stream(request: ChatRequest, signal?: AbortSignal): AsyncGenerator<string> {
    try {
      yield* this.read(request, signal);
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  }

  private async *read(request: ChatRequest, signal: AbortSignal | undefined): AsyncGenerator<string> {
    const { model, messages, temperature, maxTokens } = request;
    const response = await this.fetch('/chat/stream', {
      method: 'POST',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages, temperature, max_tokens: maxTokens }),
      signal: signal ?? null,
    });
    if (response.body === null) throw new IncompleteAnswer('The service sent no stream.');
    const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    try {
      for await (const { event, data } of events) {
        if (event === 'error') throw toldFailure(data);
        const { content, done } = Chunk.parse(JSON.parse(data));
        if (content !== '') yield content;
        if (done) return;
      }
    } catch (error) {
      if (error instanceof ChatFailure) throw error;
      throw new IncompleteAnswer('The connection broke, or the service sent something other than a chat stream.', {
        cause: error,
      });
    }
    throw new IncompleteAnswer('The stream ended before the answer was complete.');
  }

  private async fetch(path: string, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(`${this.url}${path}`, init);
    } catch (error) {
      const { cause } = error as { cause?: { code?: string } };
      const reason = cause?.code === undefined ? '' : ` (${cause.code})`;
      throw new ChatFailure(`Cannot reach ${this.url}${reason}. Is the service running? Start it with: npm start`, {
        cause: error,
      });
    }
    if (response.ok) return response;
    throw await refusal(response);
  }
}

async function refusal(response: Response): Promise<ChatFailure> {
  const { status } = response;
  const retryAfter = response.headers.get('retry-after') ?? undefined;
  const body = ErrorBody.safeParse(await response.json().catch(() => undefined));
  if (!body.success)
    return new ChatFailure(response.statusText || 'The service refused the request.', { status, retryAfter });
  const { code, message, request_id: requestId, details = [] } = body.data.error;
  const lines = details.map((detail) => `${detail.field}: ${detail.message}`);
  return new ChatFailure(message, { status, code, retryAfter, requestId, lines });
}

/** Reads the failure from the data of an `error` event. */
function toldFailure(data: string): IncompleteAnswer {
  const body = ErrorBody.safeParse(JSON.parse(data));
  if (!body.success) return new IncompleteAnswer('The service failed without giving a reason.');
  return new IncompleteAnswer(body.data.error.message, { code: body.data.error.code });
}
