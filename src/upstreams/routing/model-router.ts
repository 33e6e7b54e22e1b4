import { Injectable } from '@nestjs/common';
import type { ModelConfig } from '../../config/config.js';
import type { CallTrace } from '../completion/call-trace.js';
import type { GenerationOptions } from '../../config/generation-options.js';
import { ProtocolRegistry } from '../protocols/protocol-registry.js';
import { AttemptFactory } from './attempt-factory.js';
import { FailoverStream } from './failover-stream.js';
import { routesToTry } from './route-order.js';
import { withRoutesFor } from './route-options.js';
import { RouteStates } from './route-states.js';
import type { CompletionRequest } from './routed-completion.js';

/** Sends a completion request to the providers of a model, by the priorities and weights of the model's routes. */
@Injectable()
export class ModelRouter {
  constructor(
    private readonly attempts: AttemptFactory,
    private readonly protocols: ProtocolRegistry,
    private readonly states: RouteStates,
  ) {}

  /**
   * Returns the model with the routes that take these options.
   *
   * @throws {ServiceError} `invalid_request` when no route takes them. The details name the options and the model.
   */
  supporting(model: ModelConfig, options: GenerationOptions): ModelConfig {
    return withRoutesFor(model, options, ({ upstream }) => this.protocols.of(upstream).protocol);
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
    const routes = routesToTry(model, request.accountId, this.states, Math.random);
    return new FailoverStream({ model, request, trace }, routes, this.attempts, onOver);
  }
}
