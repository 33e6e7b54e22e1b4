import { Injectable } from '@nestjs/common';
import type { ModelConfig, RouteConfig } from '../config/config.js';
import type { Attempt } from './attempt.js';
import type { CallTrace } from './call-trace.js';
import type { ChatCall } from './chat-call.js';
import { CompletionStream } from './completion-stream.js';
import { HttpAttempt } from './http-attempt.js';
import { InProcessAttempt } from './in-process-attempt.js';
import { ProtocolRegistry } from './protocol-registry.js';
import { UpstreamConnections } from './upstream-connections.js';

/** A validated request, before a route is chosen. */
export type CompletionRequest = Pick<ChatCall, 'messages' | 'maxTokens'> & { readonly temperature: number };

/** Asks the vendors of a model, in the order of its routes. */
@Injectable()
export class ModelRouter {
  constructor(
    private readonly protocols: ProtocolRegistry,
    private readonly connections: UpstreamConnections,
  ) {}

  /**
   * @param signal when it aborts, the vendor's work stops and the stream rejects with its reason.
   * @param trace is filled while the stream runs.
   */
  stream(model: ModelConfig, request: CompletionRequest, signal: AbortSignal, trace: CallTrace): CompletionStream {
    const open = (route: RouteConfig): Attempt => {
      trace.attempts.push(route.upstream.name);
      return this.attempt(route, callOf(model, route, request), trace);
    };
    return new CompletionStream(model.routes, open, signal);
  }

  private attempt({ upstream }: RouteConfig, call: ChatCall, trace: CallTrace): Attempt {
    const protocol = this.protocols.of(upstream);
    return protocol.transport === 'http'
      ? new HttpAttempt(protocol, call, upstream, this.connections, trace)
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
