import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Extensions } from '../../platform/common/extensions/extensions.js';
import type { FailoverStream } from '../../upstreams/routing/failover-stream.js';
import type { PartReader } from '../../upstreams/completion/part-stream.js';
import type { CompletionPart, StreamPart } from '../../upstreams/contract/stream-part.js';
import { ServiceError } from '../../platform/common/service-error.js';
import type { ConversationRequest } from '../../upstreams/contract/conversation.js';
import { ConversationValidation, isPlainRequest } from '../request/conversation/conversation-validation.js';
import { IteratedStream } from '../stream/iterated-stream.js';
import { COMPLETION_HOOKS, type CompletionHook, type HookContext } from './completion-hook.js';
import { textView, withTexts } from './text-view.js';

const logger = new Logger('CompletionHooks');

/** Runs the hooks of the plugins around each completion. */
@Injectable()
export class CompletionHooks implements OnModuleInit {
  private hooks: readonly CompletionHook[] = [];
  private answering: readonly CompletionHook[] = [];
  private wrapping: readonly CompletionHook[] = [];

  constructor(
    private readonly extensions: Extensions,
    private readonly validation: ConversationValidation,
  ) {}

  onModuleInit(): void {
    this.hooks = this.extensions.of(COMPLETION_HOOKS);
    this.answering = this.hooks.filter((hook) => hook.answer !== undefined);
    this.wrapping = this.hooks.filter((hook) => hook.wrapStream !== undefined).toReversed();
  }

  /** True when there is no hook, so that a completion can skip this class. */
  get isEmpty(): boolean {
    return this.hooks.length === 0;
  }

  /** True when a hook changes the parts. */
  get wrapsStreams(): boolean {
    return this.wrapping.length > 0;
  }

  /**
   * Returns the request after all hooks.
   *
   * @throws {ServiceError} when a hook refuses the request.
   * @throws {Error} when a hook returns an invalid request.
   */
  async transform(request: ConversationRequest, context: HookContext): Promise<ConversationRequest> {
    let current = request;
    for (const hook of this.hooks) {
      const changed = await transformed(hook, current, context);
      if (changed !== current) current = await this.validated(changed, hook);
    }
    return current;
  }

  /**
   * Returns the answer of the first hook that has one, with the name of the hook.
   *
   * @throws {ServiceError} when a hook refuses the request.
   */
  async answerTo(request: ConversationRequest, context: HookContext) {
    for (const hook of this.answering) {
      const parts = await hook.answer?.(request, context);
      const name = nameOf(hook);
      if (parts !== undefined) return { name, parts: completed(parts, name) };
    }
    return undefined;
  }

  private async validated(changed: ConversationRequest, hook: CompletionHook): Promise<ConversationRequest> {
    try {
      return await this.validation.validated(changed);
    } catch (error) {
      const [problem] = error instanceof ServiceError ? (error.details ?? []) : [];
      const reason = problem === undefined ? '' : `: ${problem.field} ${problem.message}`;
      throw new Error(`The completion hook ${nameOf(hook)} returned an invalid request${reason}`, { cause: error });
    }
  }

  /** @param onOver called once when the wrapped stream is over, with the failure if there is one. */
  wrap(stream: FailoverStream, context: HookContext, onOver: (failure?: unknown) => void): PartReader {
    return new IteratedStream('A completion hook', stream, this.wrapped(stream, context), onOver);
  }

  /** A generator, so that an error of `wrapStream` itself is an error of the parts. */
  private async *wrapped(stream: FailoverStream, context: HookContext): AsyncIterable<CompletionPart> {
    let parts: AsyncIterable<CompletionPart> = stream;
    for (const hook of this.wrapping) parts = hook.wrapStream?.(parts, context) ?? parts;
    yield* parts;
  }
}

async function transformed(
  hook: CompletionHook,
  request: ConversationRequest,
  context: HookContext,
): Promise<ConversationRequest> {
  if (hook.transformConversation !== undefined) return hook.transformConversation(request, context);
  if (hook.transformRequest === undefined) return request;
  if (isPlainRequest(request)) return hook.transformRequest(request, context);
  const view = textView(request);
  const changed = await hook.transformRequest(view, context);
  if (changed === view) return request;
  const conversation = withTexts(request, changed);
  if (conversation !== undefined) return conversation;
  throw new Error(
    `The completion hook ${nameOf(hook)} changed the number or the roles of the messages of a conversation with images or tools.`,
  );
}

/** An answer of this process is complete when it ends after its `finish` part. */
async function* completed(parts: AsyncIterable<CompletionPart>, hook: string): AsyncIterable<StreamPart> {
  let isFinished = false;
  for await (const part of parts) {
    isFinished ||= part.type === 'finish';
    yield part;
  }
  if (isFinished) yield { type: 'complete', last: true };
  else logger.warn({ msg: 'The answer of a completion hook is incomplete: it has no part of type "finish"', hook });
}

function nameOf(hook: CompletionHook): string {
  return hook.constructor.name;
}
