import { Injectable } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ModelConfig, RouteConfig } from '../config/config.js';
import { AttemptAccount } from './completion/attempt-account.js';
import { AttemptContext } from './completion/attempt-context.js';
import type { AttemptObserver } from './completion/attempt-observer.js';
import { Attempt } from './completion/attempt.js';
import type { CallTrace } from './completion/call-trace.js';
import { CompletionStream } from './completion/completion-stream.js';
import { HttpSource } from './completion/http-source.js';
import { InProcessSource } from './completion/in-process-source.js';
import type { ChatCall } from './contract/chat-call.js';
import { ProtocolRegistry } from './protocols/protocol-registry.js';
import { routesToTry } from './routing/route-order.js';
import { RouteStates } from './routing/route-states.js';
import { UpstreamConnections } from './transport/upstream-connections.js';

/** A validated request, before a route is chosen. */
export type CompletionRequest = Pick<ChatCall, 'messages' | 'maxTokens'> & {
  readonly temperature: number;
  readonly accountId: string;
  /** Whether the stream returns reasoning. Without reasoning, a failover is possible until the first text. */
  readonly reasoning?: boolean;
};

/** Sends a completion request to the providers of a model, by the priorities and weights of the model's routes. */
@Injectable()
export class ModelRouter {
  private observer: AttemptObserver | undefined;

  constructor(
    private readonly protocols: ProtocolRegistry,
    private readonly connections: UpstreamConnections,
    private readonly states: RouteStates,
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
    const begin = (route: RouteConfig, onChange: () => void): Attempt =>
      this.begin(model, route, request, trace, onChange);
    // Later attempts begin in a callback of a connection. Their spans still belong to the request.
    const inRequest = this.observer && AsyncLocalStorage.snapshot();
    return new CompletionStream(
      routesToTry(model, request.accountId, this.states, Math.random),
      inRequest === undefined ? begin : (route, onChange) => inRequest(begin, route, onChange),
      onOver,
    );
  }

  private begin(
    model: ModelConfig,
    route: RouteConfig,
    request: CompletionRequest,
    trace: CallTrace,
    onChange: () => void,
  ): Attempt {
    const { protocol, upstream } = this.protocols.of(route.upstream);
    const call = callOf(model, route, request);
    const attempt = trace.beginAttempt(upstream.name, route.price);
    const observed = this.observer?.begin(attempt, route, call);
    const { connections } = this;
    const context = new AttemptContext(trace.requestId, request.accountId, observed?.headers, upstream, connections);
    const use = this.states.of(route).begin();
    return new Attempt(
      (collector, changed) =>
        protocol.transport === 'http'
          ? new HttpSource(protocol, call, upstream, connections, context, collector, changed)
          : new InProcessSource(protocol, call, upstream, context, collector, changed),
      upstream.timeouts,
      trace,
      new AttemptAccount(model.id, route, trace, attempt, use, context, observed),
      onChange,
      request.reasoning,
    );
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
