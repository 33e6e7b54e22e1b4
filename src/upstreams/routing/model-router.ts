import { Injectable } from '@nestjs/common';
import type { ModelConfig, UpstreamConfig } from '../../platform/config/config.js';
import type { CallTrace } from '../completion/call-trace.js';
import { upstreamOfState } from '../completion/provider-state.js';
import { ProtocolRegistry, type ConnectedUpstream } from '../protocols/protocol-registry.js';
import type { StreamPart } from '../contract/stream-part.js';
import { AttemptFactory } from './attempt-factory.js';
import { FailoverStream } from './failover-stream.js';
import { type CapabilityMembers, neededCapabilities, withRoutesFor } from './route-options.js';
import { routesToTry } from './route-order.js';
import { RouteStates } from './route-states.js';
import type { CompletionRequest } from './routed-completion.js';
import { CAPABILITIES } from '../../platform/config/capabilities.js';

/** Sends a completion request to the providers of a model, by the priorities and weights of the model's routes. */
@Injectable()
export class ModelRouter {
  constructor(
    private readonly attempts: AttemptFactory,
    private readonly protocols: ProtocolRegistry,
    private readonly states: RouteStates,
  ) {}

  /**
   * Returns the model with the routes that take the options and the contents of a request.
   *
   * @throws {ServiceError} `invalid_request` when no route takes them. The details name the members and the model.
   */
  supporting(model: ModelConfig, request: CapabilityMembers & Pick<CompletionRequest, 'options'>): ModelConfig {
    const needs = neededCapabilities(request);
    return withRoutesFor(model, request.options, ({ upstream }) => this.protocols.of(upstream).protocol, needs);
  }

  /**
   * Returns the model with one route, which is an answer of this process: it needs no provider, and costs nothing.
   *
   * @param name the name of the upstream in the record, in logs and in metrics.
   */
  answering(model: ModelConfig, name: string, parts: AsyncIterable<StreamPart>): ModelConfig {
    const connected = answeringUpstream(name, parts);
    this.protocols.connectOnce(connected);
    return answeredBy(model, connected.upstream);
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
  ): FailoverStream {
    const routes = routesToTry(model, request.accountId, this.states, Math.random, upstreamOfState(request.messages));
    return new FailoverStream({ model, request, trace }, routes, this.attempts, onOver);
  }
}

/** The times of an answer that does not come from a provider. */
const TIMEOUTS = { connectMs: 1, firstTokenMs: 60_000, idleMs: 60_000 };
const FREE = { inputPerMillion: 0, outputPerMillion: 0 };

/** Returns an upstream that answers one request with `parts`. */
function answeringUpstream(name: string, parts: AsyncIterable<StreamPart>): ConnectedUpstream {
  return {
    upstream: {
      ...{ name, protocol: name, baseUrl: undefined, apiKey: undefined, headers: {}, options: undefined },
      ...{ timeouts: TIMEOUTS, maxTokensField: 'max_tokens', includeUsage: false, maxEventBytes: Infinity },
    },
    protocol: { transport: 'in-process', name, capabilities: CAPABILITIES, stream: () => parts },
  };
}

/** Returns the model with this upstream as its only route. It costs nothing. */
function answeredBy(model: ModelConfig, upstream: UpstreamConfig): ModelConfig {
  const price = { currency: model.price?.currency ?? 'USD', ...FREE };
  return {
    ...model,
    routes: [{ upstream, model: model.id, unsupportedOptions: [], price, priority: 0, weight: 1 }],
  };
}
