import { Injectable, Logger } from '@nestjs/common';
import type { RouteConfig } from '../../platform/config/config.js';
import { AttemptContext } from '../completion/attempt-context.js';
import {
  Attempt,
  type AttemptObserver,
  type AttemptTracer,
  type PartSource,
  type AttemptEnd,
} from '../completion/attempt.js';
import { HttpSource } from '../completion/http-source.js';
import { PartCollector } from '../completion/part-collector.js';
import { InProcessSource } from '../completion/in-process-source.js';
import type { AttemptTrace, CallTrace } from '../completion/call-trace.js';
import type { ChatCall, Protocol } from '../contract/protocol.js';
import { withOwnState, type StateOwner } from '../completion/provider-state.js';
import { plainMessages } from '../protocols/shared/provider-messages.js';
import { ProtocolRegistry } from '../protocols/protocol-registry.js';
import { UpstreamConnections } from '../transport/upstream-connections.js';
import { optionsForRoute } from './route-options.js';
import type { RoutedCompletion } from './failover-stream.js';
import { RouteStates } from './route-states.js';
import { factsOf } from '../../platform/common/service-error.js';
import { causeOf } from '../contract/provider-failure.js';

const logger = new Logger('ModelRouter');

/** Writes one log line for an attempt that its provider has failed or refused. */
export class FailureLog implements AttemptObserver {
  constructor(
    private readonly requestId: string,
    private readonly model: string,
    private readonly upstream: string,
  ) {}

  onEnd(end: AttemptEnd): void {
    if (end.type !== 'failed') return;
    const { code, message, cause } = end.failure;
    if (factsOf(code).fault !== 'provider' && code !== 'upstream_rejected') return;
    logger.warn({
      msg: 'An upstream failed',
      requestId: this.requestId,
      model: this.model,
      upstream: this.upstream,
      code,
      reason: cause instanceof Error ? cause.message : message,
      cause: causeOf(end.failure),
    });
  }
}

/** Begins the attempts of completions, each with its observers: the state of its route, its signal, its log and its span. */
@Injectable()
export class AttemptFactory {
  /** Creates a span for each attempt. `undefined`: the service is not traced. */
  tracer: AttemptTracer | undefined;

  constructor(
    private readonly protocols: ProtocolRegistry,
    private readonly connections: UpstreamConnections,
    private readonly states: RouteStates,
  ) {}

  /** @param onChange called when there may be something to read. */
  begin(completion: RoutedCompletion, route: RouteConfig, onChange: () => void): Attempt {
    const { model, request, trace } = completion;
    const { connections } = this;
    const { protocol, upstream, credentials } = this.protocols.of(route.upstream);
    const owner = ownerOf(protocol, upstream.name, trace.attempts.length === 0);
    const call: ChatCall = {
      model: route.model,
      messages:
        protocol.capabilities === undefined ? plainMessages(request.messages) : withOwnState(request.messages, owner),
      options: optionsForRoute(request.options, protocol, route, model),
      maxTokens: request.maxTokens,
      modelMaxOutputTokens: model.maxOutputTokens,
      modelCapabilities: model.capabilities,
      modelThinking: model.thinking,
      tools: request.tools,
      toolChoice: request.toolChoice,
      parallelToolCalls: request.parallelToolCalls,
      responseFormat: request.responseFormat,
      reasoning: request.reasoning,
      user: request.user,
    };
    const attempt = trace.beginAttempt(upstream.name, route.price);
    const span = this.tracer?.begin(attempt, trace, route, call);
    const context = new AttemptContext(trace.requestId, request.accountId, span?.headers, upstream, connections);
    const log = new FailureLog(trace.requestId, model.id, upstream.name);
    const observers: AttemptObserver[] = [this.states.of(route).begin(), context, log];
    if (span !== undefined) observers.push(span);
    const { readsReasoning, readsToolCalls, maxTokens = model.maxOutputTokens } = request;
    const collector = new PartCollector(trace, readsReasoning, readsToolCalls, owner, maxTokens);
    const onSentAgain = noteSentAgain(trace, attempt);
    const open = (): PartSource =>
      protocol.transport === 'http'
        ? new HttpSource(protocol, call, upstream, connections, context, collector, onChange, onSentAgain, credentials)
        : new InProcessSource(protocol, call, upstream, context, collector, onChange);
    const mayBeEmpty = request.options.stop !== undefined;
    return new Attempt(open, collector, upstream, trace, attempt, observers, onChange, mayBeEmpty);
  }
}

// These functions live as long as the answer. Made here, they do not hold the call with its prompt, as functions of `begin` would.

function ownerOf(protocol: Protocol, upstream: string, readsUnnamed: boolean): StateOwner {
  const isBound = (state: string): boolean => protocol.isBoundToUpstream?.(state) === true;
  return { protocol: protocol.name, upstream, isBound, readsUnnamed };
}

function noteSentAgain(trace: CallTrace, attempt: AttemptTrace): () => void {
  return () => {
    trace.sentAgain(attempt);
  };
}
