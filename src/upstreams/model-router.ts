import { Injectable, Logger } from '@nestjs/common';
import { ServiceError } from '../common/service-error.js';
import type { ModelConfig, RouteConfig } from '../config/config.js';
import type { Attempt } from './completion/attempt.js';
import type { AttemptObserver, ObservedAttempt } from './completion/attempt-observer.js';
import type { CallTrace } from './completion/call-trace.js';
import type { ChatCall } from './contract/chat-call.js';
import { CircuitBreakers } from './routing/circuit-breakers.js';
import { CompletionStream, type TrackedAttempt } from './completion/completion-stream.js';
import { HttpAttempt } from './completion/http-attempt.js';
import { InProcessAttempt } from './completion/in-process-attempt.js';
import { ProtocolRegistry } from './protocols/protocol-registry.js';
import { routesToTry } from './routing/route-choice.js';
import { UpstreamConnections } from './transport/upstream-connections.js';

/** A validated request, before a route is chosen. */
export type CompletionRequest = Pick<ChatCall, 'messages' | 'maxTokens'> & { readonly temperature: number };

/** Sends a completion request to the providers of a model, in the order of the model's routes. */
@Injectable()
export class ModelRouter {
  private readonly logger = new Logger(ModelRouter.name);
  private observer: AttemptObserver | undefined;

  constructor(
    private readonly protocols: ProtocolRegistry,
    private readonly connections: UpstreamConnections,
    private readonly breakers: CircuitBreakers,
  ) {}

  /** Sets the observer that is notified of each attempt. There is at most one. */
  observe(observer: AttemptObserver): void {
    this.observer = observer;
  }

  /**
   * Starts a completion.
   *
   * @param trace is filled while the completion runs.
   * @param onOver called once at the end, with `undefined` on success, or with the failure otherwise.
   */
  stream(
    model: ModelConfig,
    request: CompletionRequest,
    trace: CallTrace,
    onOver: (failure?: unknown) => void,
  ): CompletionStream {
    let observed: ObservedAttempt | undefined;
    const endObserved = (): void => {
      observed?.end(trace);
      observed = undefined;
    };
    const begin = (route: RouteConfig): TrackedAttempt => {
      const { name } = route.upstream;
      const traced = trace.beginAttempt(name);
      const call = callOf(model, route, request);
      observed = this.observer?.begin(traced, route, call);
      const attempt = this.attempt(route, call, trace, observed?.headers);
      const settled = this.breakers.of(route.upstream).begin();
      return {
        attempt,
        accept: () => {
          traced.accepted = true;
        },
        settle: (outcome, error) => {
          settled(outcome);
          const elapsedMs = trace.elapsedMs - traced.startedMs;
          if (outcome === 'succeeded' && trace.textLength > 0) traced.firstTextMs = elapsedMs;
          if (outcome !== 'succeeded') traced.durationMs = elapsedMs;
          if (error instanceof ServiceError) traced.code = error.code;
          if (outcome !== 'succeeded') endObserved();
          if (!(error instanceof ServiceError)) return;
          if (error.code.startsWith('upstream_')) {
            const reason = error.cause instanceof Error ? error.cause.message : error.message;
            this.logger.warn({
              msg: 'An upstream failed',
              requestId: trace.requestId,
              model: model.id,
              upstream: name,
              code: error.code,
              reason,
            });
          }
        },
      };
    };
    return new CompletionStream(routesToTry(model.routes, this.breakers), begin, (failure) => {
      const { lastAttempt } = trace;
      if (lastAttempt !== undefined) lastAttempt.durationMs ??= trace.elapsedMs - lastAttempt.startedMs;
      endObserved();
      onOver(failure);
    });
  }

  private attempt(
    { upstream }: RouteConfig,
    call: ChatCall,
    trace: CallTrace,
    headers?: Readonly<Record<string, string>>,
  ): Attempt {
    const protocol = this.protocols.of(upstream);
    return protocol.transport === 'http'
      ? new HttpAttempt(protocol, call, upstream, this.connections, trace, headers)
      : new InProcessAttempt(protocol, call, upstream, trace);
  }
}

function callOf(model: ModelConfig, route: RouteConfig, request: CompletionRequest): ChatCall {
  return {
    model: route.model,
    messages: request.messages,
    temperature: route.temperature ? request.temperature : undefined,
    maxTokens: request.maxTokens,
    modelMaxOutputTokens: model.maxOutputTokens,
  };
}
