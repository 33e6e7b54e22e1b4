import { Inject, Injectable } from '@nestjs/common';
import {
  ChatPlugin,
  PLUGIN_CONFIG,
  type CompletionHook,
  type CompletionPart,
  type ConversationRequest,
  type HookContext,
} from 'chat-streaming-service';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { z } from 'zod';

const Config = z.strictObject({
  /** The models whose answers are kept. */
  models: z.array(z.string()).default([]),
  max_answers: z.int().min(1).default(1_000),
});

/** Answers a repeated request of an account from the memory of this process, without a provider. */
@Injectable()
export class ResponseCache implements CompletionHook {
  /** The oldest first. */
  private readonly answers = new Map<string, readonly CompletionPart[]>();
  /** The key under which the answer of a running completion will be kept. */
  private readonly keys = new WeakMap<HookContext, string>();

  constructor(@Inject(PLUGIN_CONFIG) private readonly config: z.infer<typeof Config>) {}

  answer(request: ConversationRequest, context: HookContext): AsyncIterable<CompletionPart> | undefined {
    if (!this.config.models.includes(request.model)) return undefined;
    const { principal, options } = context;
    const asked = JSON.stringify([principal.accountId, options, request]);
    const key = createHash('sha256').update(asked).digest('base64');
    const known = this.answers.get(key);
    if (known !== undefined) return Readable.from(known);
    this.keys.set(context, key);
    return undefined;
  }

  async *wrapStream(parts: AsyncIterable<CompletionPart>, context: HookContext): AsyncIterable<CompletionPart> {
    const seen: CompletionPart[] = [];
    for await (const part of parts) {
      seen.push(part);
      yield part;
    }
    // The loop ends only after a complete answer.
    const key = this.keys.get(context);
    if (key !== undefined) this.keep(key, seen);
  }

  private keep(key: string, parts: readonly CompletionPart[]): void {
    this.answers.set(key, parts);
    const [oldest] = this.answers.keys();
    if (this.answers.size > this.config.max_answers && oldest !== undefined) this.answers.delete(oldest);
  }
}

@ChatPlugin({ name: 'response-cache', compatibility: '^1', config: Config, completionHooks: [ResponseCache] })
export class ResponseCachePlugin {}
