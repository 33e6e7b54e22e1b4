import { AsyncLocalStorage } from 'node:async_hooks';
import { factsOf, ServiceError } from '../../platform/common/service-error.js';
import type { RouteConfig, ModelConfig } from '../../platform/config/config.js';
import type { Attempt } from '../completion/attempt.js';
import { beginsAnswer, CLIENT_GONE, PartStream } from '../completion/part-stream.js';
import { withoutState } from '../completion/provider-state.js';
import { ProviderFailure } from '../contract/provider-failure.js';
import type { CompletionPart } from '../contract/stream-part.js';
import { InvalidMember } from '../protocols/shared/json-request.js';
import { unexpectedFailure } from '../transport/connection-failure.js';
import type { AttemptFactory } from './attempt-factory.js';
import type { CallTrace } from '../completion/call-trace.js';
import type { ChatCall } from '../contract/protocol.js';

/**
 * Streams the parts of one completion from the first route that returns something that the caller reads: text, the start of a
 * tool call, or reasoning. When an attempt fails before that, the stream tries the next route. A later failure is thrown, because
 * text that was already sent must not be sent twice.
 */
export class FailoverStream extends PartStream {
  override readonly accepted: Promise<void>;
  private accept!: () => void;
  private attempt: Attempt | undefined;
  /** What the current attempt has sent before its first text. A later attempt may still replace it. */
  private early: CompletionPart[] = [];
  private complete = false;
  /** The route of the current attempt. */
  private route: RouteConfig | undefined;
  private mayOmitState = true;
  /** Later attempts begin in a callback of a connection. Their spans still belong to the request. */
  private readonly inRequest: ReturnType<typeof AsyncLocalStorage.snapshot> | undefined;

  /**
   * @param routes the routes to try, in order. May throw when there is no route to try.
   * @param onOver called once at the end of the completion, with `undefined` on success, or with the failure otherwise.
   */
  constructor(
    private completion: RoutedCompletion | undefined,
    private readonly routes: Iterator<RouteConfig>,
    private readonly attempts: Pick<AttemptFactory, 'begin' | 'tracer'>,
    private readonly onOver: (failure?: unknown) => void,
  ) {
    super();
    this.accepted = new Promise((resolve) => {
      this.accept = resolve;
    });
    if (attempts.tracer !== undefined) this.inRequest = AsyncLocalStorage.snapshot();
    this.tryRoutes();
  }

  /** True when the provider has marked the answer as complete. */
  get isComplete(): boolean {
    return this.complete;
  }

  override get isWhole(): boolean {
    return this.attempt?.isWhole ?? false;
  }

  override read(): CompletionPart | undefined {
    // The parts up to the first text are returned even if the completion was stopped since then.
    const part = this.hasStarted ? (this.early.shift() ?? this.readAttempt()) : undefined;
    if (part !== undefined) return part;
    this.throwFailure();
    return undefined;
  }

  override stop(reason: Error): void {
    if (this.over) return;
    this.attempt?.stop(reason);
    this.fail(reason);
    this.onReadable();
  }

  override return(): Promise<IteratorResult<CompletionPart, undefined>> {
    this.early = [];
    if (!this.over) {
      this.attempt?.stop(CLIENT_GONE);
      this.end(CLIENT_GONE);
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  protected override get buffered(): number {
    return this.early.length;
  }

  /** From now on, no other route is tried, so the prompt is not needed any longer. */
  protected override begin(): void {
    this.completion = undefined;
    super.begin();
  }

  protected override onEnd(failure: Error | undefined): void {
    this.complete = failure === undefined;
    this.onOver(failure);
  }

  /** Tries routes until an attempt has begun the answer, or waits for its provider. */
  private tryRoutes(lastFailure?: Error): void {
    let failure = lastFailure;
    while (!this.over && !this.hasStarted) {
      try {
        const route = this.nextRoute(failure);
        this.early = [];
        // The next attempt may call back before it is known. The failed one then must not be read again.
        this.attempt = undefined;
        this.attempt = this.beginAttempt(route);
      } catch (error) {
        this.fail(unexpectedFailure(error));
        return;
      }
      const failed = this.readUntilText();
      if (failed === undefined) return;
      if (!this.mayTryAgain(failed)) this.fail(failed);
      // The failure of a provider says more than that another one could never accept the request.
      failure = failed instanceof InvalidMember ? (failure ?? failed) : failed;
    }
  }

  /** Returns the next route. A route that refuses the encrypted reasoning is tried once more, without this reasoning. */
  private nextRoute(failure: Error | undefined): RouteConfig {
    const { completion, route } = this;
    if (completion !== undefined && route !== undefined && this.mayOmitState && refusesState(failure)) {
      const { request } = completion;
      this.mayOmitState = false;
      this.completion = { ...completion, request: { ...request, messages: withoutState(request.messages) } };
      return route;
    }
    const next = this.routes.next();
    if (next.done === true) throw this.failureOfAll(failure);
    this.route = next.value;
    return next.value;
  }

  private mayTryAgain(failure: Error): boolean {
    return mayWorkElsewhere(failure) || (this.mayOmitState && refusesState(failure));
  }

  private failureOfAll(failure = new Error('The model has no route.')): Error {
    return failure instanceof InvalidMember && this.completion !== undefined
      ? failure.named(this.completion.model.id)
      : failure;
  }

  private beginAttempt(route: RouteConfig): Attempt {
    const { attempts, completion, onChange } = this;
    if (completion === undefined) throw new Error('The answer has begun.');
    if (this.inRequest === undefined) return attempts.begin(completion, route, onChange);
    return this.inRequest(() => attempts.begin(completion, route, onChange));
  }

  private readonly onChange = (): void => {
    if (!this.hasStarted && !this.over) {
      const failure = this.readUntilText();
      if (failure !== undefined && this.mayTryAgain(failure)) this.tryRoutes(failure);
      else if (failure !== undefined) this.fail(failure);
    }
    if (this.hasStarted || this.over) this.onReadable();
  };

  /** Reads the attempt up to the first text. Returns the failure of the attempt, if it has failed. */
  private readUntilText(): Error | undefined {
    const { attempt } = this;
    if (attempt === undefined) return undefined;
    try {
      for (;;) {
        const part = attempt.read();
        if (attempt.isAccepted) this.accept();
        if (part === undefined) {
          if (attempt.isOver) this.begin();
          return undefined;
        }
        this.early.push(part);
        if (beginsAnswer(part)) {
          this.begin();
          return undefined;
        }
      }
    } catch (error) {
      return error as Error;
    }
  }

  private readAttempt(): CompletionPart | undefined {
    if (this.over) return undefined;
    const { attempt } = this;
    try {
      const part = attempt?.read();
      if (part === undefined && attempt?.isOver === true) this.end(undefined);
      return part;
    } catch (error) {
      this.fail(error as Error);
      return undefined;
    }
  }
}

/** The provider cannot read the encrypted reasoning of an earlier turn, for example because its key is another one now. */
function refusesState(failure: Error | undefined): boolean {
  return failure instanceof ProviderFailure && failure.failureCause.code === 'invalid_encrypted_content';
}

function mayWorkElsewhere(failure: Error): boolean {
  if (failure instanceof InvalidMember) return true;
  return failure instanceof ServiceError && factsOf(failure.code).mayWorkElsewhere === true;
}

/** A validated request, before a route is chosen. */
export type CompletionRequest = Omit<
  ChatCall,
  'model' | 'modelMaxOutputTokens' | 'modelCapabilities' | 'modelThinking'
> & {
  readonly accountId: string;
  /** Whether the stream returns reasoning. Without reasoning, a failover is possible until the first text. */
  readonly readsReasoning?: boolean;
  /** Whether the stream returns tool calls. */
  readonly readsToolCalls?: boolean;
};

/** What all attempts of one completion have in common. */
export interface RoutedCompletion {
  readonly model: ModelConfig;
  readonly request: CompletionRequest;
  readonly trace: CallTrace;
}
