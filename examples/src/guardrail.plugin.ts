import { Inject, Injectable } from '@nestjs/common';
import {
  ChatPlugin,
  defineError,
  PLUGIN_CONFIG,
  type ChatRequest,
  type CompletionHook,
  type CompletionPart,
} from 'chat-streaming-service';
import { z } from 'zod';

const Config = z.strictObject({
  /** Words that neither a message nor an answer may contain. */
  words: z.array(z.string().min(1).toLowerCase()).default([]),
});

export const GuardrailError = defineError('acme_guardrail', {
  status: 422,
  description: 'The guardrail refuses the text.',
});

/** Refuses requests and answers with certain words. A refused answer ends with the error, and the provider is stopped. */
@Injectable()
export class Guardrail implements CompletionHook {
  private readonly longest: number;

  constructor(@Inject(PLUGIN_CONFIG) private readonly config: z.infer<typeof Config>) {
    this.longest = Math.max(0, ...config.words.map((word) => word.length));
  }

  transformRequest(request: ChatRequest): ChatRequest {
    request.messages.forEach(({ content }, index) => {
      if (!this.refuses(content)) return;
      const details = [{ field: `messages.${index}.content`, message: 'contains a word that is not allowed' }];
      throw new GuardrailError('The guardrail refuses the message.', { details });
    });
    return request;
  }

  async *wrapStream(parts: AsyncIterable<CompletionPart>): AsyncIterable<CompletionPart> {
    let end = '';
    for await (const part of parts) {
      if (part.type === 'text') {
        // A word may be split over parts.
        const seen = end + part.text;
        if (this.refuses(seen)) throw new GuardrailError('The guardrail refuses the answer.');
        end = seen.slice(Math.max(0, seen.length - this.longest));
      }
      yield part;
    }
  }

  private refuses(text: string): boolean {
    const lower = text.toLowerCase();
    return this.config.words.some((word) => lower.includes(word));
  }
}

@ChatPlugin({
  name: 'guardrail',
  compatibility: '^1',
  config: Config,
  completionHooks: [Guardrail],
  errors: [GuardrailError],
})
export class GuardrailPlugin {}
