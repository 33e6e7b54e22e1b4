import { ServiceError } from '../../platform/common/service-error.js';
import type { ModelConfig, RouteConfig } from '../../platform/config/config.js';
import {
  GENERATION_OPTIONS,
  type GenerationOption,
  type GenerationOptions,
  type Capability,
} from '../../platform/config/capabilities.js';
import type { Protocol } from '../contract/protocol.js';
import type { ImageContent, Message, TextContent } from '../contract/conversation.js';
import type { CompletionRequest } from './failover-stream.js';

/** A member of a request that needs a capability. `field` is its path, such as `messages.2.content.1`. */
interface CapabilityNeed {
  readonly capability: Capability;
  readonly field: string;
}

export type CapabilityMembers = Pick<CompletionRequest, 'messages' | 'tools' | 'responseFormat' | 'reasoning'>;

/** Returns the members of a request that need a capability. A request with plain texts only needs none. */
export function neededCapabilities(request: CapabilityMembers): readonly CapabilityNeed[] {
  const { messages, tools, responseFormat, reasoning } = request;
  const needs: CapabilityNeed[] = [];
  if (tools !== undefined) needs.push({ capability: 'tools', field: 'tools' });
  if (responseFormat !== undefined && responseFormat.type !== 'text') {
    needs.push({ capability: 'structured_output', field: 'response_format' });
  }
  if ((reasoning?.effort ?? 'none') !== 'none' || reasoning?.budget_tokens !== undefined) {
    needs.push({ capability: 'reasoning', field: 'reasoning' });
  }
  for (const [index, message] of messages.entries()) {
    if (typeof message.content !== 'string') needs.push(...needsOf(message, `messages.${index}.content`));
  }
  return needs;
}

function needsOf(message: Message, field: string): readonly CapabilityNeed[] {
  if (typeof message.content === 'string') return [];
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return imagesOf(message.content, field);
    case 'assistant': {
      const call = message.content.findIndex(({ type }) => type === 'tool_call');
      return call === -1 ? [] : [{ capability: 'tools', field: `${field}.${call}` }];
    }
    case 'tool':
      return [
        { capability: 'tools', field },
        ...message.content.flatMap(({ content }, index) => imagesOf(content, `${field}.${index}.content`)),
      ];
  }
}

function imagesOf(content: string | readonly (TextContent | ImageContent)[], field: string): readonly CapabilityNeed[] {
  if (typeof content === 'string') return [];
  return content.flatMap(({ type }, index) =>
    type === 'image' ? [{ capability: 'images', field: `${field}.${index}` }] : [],
  );
}

type Capabilities = Pick<ModelConfig, 'capabilities'>;

/** Whether a route takes an option: its protocol has a name for the option, and the configuration does not exclude it. */
function takes(protocol: Protocol, route: RouteConfig, option: GenerationOption): boolean {
  return protocol.generationOptions?.[option] !== undefined && !route.unsupportedOptions.includes(option);
}

/** Whether an option is left out because the model reasons. */
function isRefusedByReasoning(protocol: Protocol, { capabilities }: Capabilities, option: GenerationOption): boolean {
  return capabilities?.includes('reasoning') === true && protocol.refusedByReasoning?.includes(option) === true;
}

/**
 * Leaves out the temperature if the route does not take it, because every request has one by default. Also leaves out what the
 * protocol does not take for a model that reasons.
 */
export function optionsForRoute(
  options: GenerationOptions,
  protocol: Protocol,
  route: RouteConfig,
  model: Capabilities,
): GenerationOptions {
  const leftOut = GENERATION_OPTIONS.filter(
    (option) =>
      options[option] !== undefined &&
      (isRefusedByReasoning(protocol, model, option) || (option === 'temperature' && !takes(protocol, route, option))),
  );
  if (leftOut.length === 0) return options;
  return { ...options, ...Object.fromEntries(leftOut.map((option) => [option, undefined])) };
}

/** A member of a request that not every route takes. */
interface Requirement {
  readonly field: string;
  readonly isMetBy: (route: RouteConfig) => boolean;
}

/**
 * Returns the model with the routes that take all options of a request, apart from the temperature, and that have all
 * capabilities that the request needs.
 *
 * @throws {ServiceError} `invalid_request` when there is no such route. The details name the members and the model.
 */
export function withRoutesFor(
  model: ModelConfig,
  options: GenerationOptions,
  protocolOf: (route: RouteConfig) => Protocol,
  needs: readonly CapabilityNeed[] = [],
): ModelConfig {
  const needed = GENERATION_OPTIONS.filter((option) => option !== 'temperature' && options[option] !== undefined);
  if (needed.length === 0 && needs.length === 0) return model;
  const requirements: readonly Requirement[] = [
    ...needed.map((field) => ({
      field,
      isMetBy: (route: RouteConfig) => {
        const protocol = protocolOf(route);
        return takes(protocol, route, field) || isRefusedByReasoning(protocol, model, field);
      },
    })),
    ...needs.map(({ field, capability }) => ({
      field,
      isMetBy: (route: RouteConfig) =>
        (model.capabilities?.includes(capability) ?? true) &&
        protocolOf(route).capabilities?.includes(capability) === true,
    })),
  ];
  const [first, ...others] = model.routes.filter((route) => requirements.every(({ isMetBy }) => isMetBy(route)));
  if (first !== undefined) return { ...model, routes: [first, ...others] };
  const unmet = requirements.filter(({ isMetBy }) => !model.routes.some(isMetBy));
  throw unmet.length > 0
    ? refused(unmet, `is not supported by the model ${model.id}`)
    : refused(requirements, `is not supported by the model ${model.id} together with the other options`);
}

function refused(requirements: readonly Requirement[], problem: string): ServiceError {
  const fields = requirements.map(({ field }) => field);
  return new ServiceError('invalid_request', `The request is invalid: see ${fields.join(', ')}.`, {
    details: fields.map((field) => ({ field, message: problem })),
  });
}
