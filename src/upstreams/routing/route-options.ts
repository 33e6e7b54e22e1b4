import { ServiceError } from '../../common/service-error.js';
import type { ModelConfig, RouteConfig } from '../../config/config.js';
import { GENERATION_OPTIONS, type GenerationOption, type GenerationOptions } from '../../config/generation-options.js';
import type { Protocol } from '../contract/protocol.js';

/** Whether a route takes an option: its protocol has a name for the option, and the configuration does not exclude it. */
export function takes(protocol: Protocol, route: RouteConfig, option: GenerationOption): boolean {
  return protocol.generationOptions?.[option] !== undefined && !route.unsupportedOptions.includes(option);
}

/** Leaves out the temperature if the route does not take it: every request has one, because of its default. */
export function optionsForRoute(options: GenerationOptions, protocol: Protocol, route: RouteConfig): GenerationOptions {
  return takes(protocol, route, 'temperature') ? options : { ...options, temperature: undefined };
}

/**
 * Returns the model with the routes that take all options of a request, apart from the temperature.
 *
 * @throws {ServiceError} `invalid_request` when there is no such route. The details name the options and the model.
 */
export function withRoutesFor(
  model: ModelConfig,
  options: GenerationOptions,
  protocolOf: (route: RouteConfig) => Protocol,
): ModelConfig {
  const needed = GENERATION_OPTIONS.filter((option) => option !== 'temperature' && options[option] !== undefined);
  if (needed.length === 0) return model;
  const [first, ...others] = model.routes.filter((route) =>
    needed.every((option) => takes(protocolOf(route), route, option)),
  );
  if (first !== undefined) return { ...model, routes: [first, ...others] };
  const unknown = needed.filter((option) => !model.routes.some((route) => takes(protocolOf(route), route, option)));
  throw unknown.length > 0
    ? refused(unknown, `is not supported by the model ${model.id}`)
    : refused(needed, `is not supported by the model ${model.id} together with the other options`);
}

function refused(options: readonly GenerationOption[], problem: string): ServiceError {
  return new ServiceError('invalid_request', `The request is invalid: see ${options.join(', ')}.`, {
    details: options.map((field) => ({ field, message: problem })),
  });
}
