import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Extensions } from '../../common/extensions/extensions.js';
import type { FailoverStream } from '../../upstreams/routing/failover-stream.js';
import type { PartReader } from '../../upstreams/completion/part-reader.js';
import type { CompletionPart } from '../../upstreams/contract/stream-part.js';
import { ServiceError } from '../../common/service-error.js';
import { RequestValidationPipe } from '../../http/request/request-validation.pipe.js';
import { ChatRequest } from '../request/chat-request.dto.js';
import { COMPLETION_HOOKS, type CompletionHook, type HookContext } from './completion-hook.js';
import { HookedStream } from './hooked-stream.js';

/** Runs the hooks of the plugins around each completion. */
@Injectable()
export class CompletionHooks implements OnModuleInit {
  private hooks: readonly CompletionHook[] = [];
  private wrapping: readonly CompletionHook[] = [];

  constructor(
    private readonly extensions: Extensions,
    private readonly validation: RequestValidationPipe,
  ) {}

  onModuleInit(): void {
    this.hooks = this.extensions.of(COMPLETION_HOOKS);
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
  async transform(request: ChatRequest, context: HookContext): Promise<ChatRequest> {
    let current = request;
    for (const hook of this.hooks) {
      if (hook.transformRequest === undefined) continue;
      const changed = await hook.transformRequest(current, context);
      if (changed !== current) current = await this.validated(changed);
    }
    return current;
  }

  private async validated(changed: ChatRequest): Promise<ChatRequest> {
    try {
      return await this.validation.validated(changed, ChatRequest);
    } catch (error) {
      const [problem] = error instanceof ServiceError ? (error.details ?? []) : [];
      const reason = problem === undefined ? '' : `: ${problem.field} ${problem.message}`;
      throw new Error(`A completion hook returned an invalid request${reason}`, { cause: error });
    }
  }

  /** @param onOver called once when the wrapped stream is over, with the failure if there is one. */
  wrap(stream: FailoverStream, context: HookContext, onOver: (failure?: unknown) => void): PartReader {
    return new HookedStream(stream, this.wrapped(stream, context), onOver);
  }

  /** A generator, so that an error of `wrapStream` itself is an error of the parts. */
  private async *wrapped(stream: FailoverStream, context: HookContext): AsyncIterable<CompletionPart> {
    let parts: AsyncIterable<CompletionPart> = stream;
    for (const hook of this.wrapping) parts = hook.wrapStream?.(parts, context) ?? parts;
    yield* parts;
  }
}
