import { encodeInSteps, stringifyWithSources } from '../../../platform/common/json/json-source.js';
import type { UpstreamConfig } from '../../../platform/config/config.js';
import type { ChatCall, HttpProtocol, OptionNames, UpstreamRequest } from '../../contract/protocol.js';
import { imagesOf, textsOf } from '../../contract/conversation.js';
import { encodedRequest, type EncodedRequest } from '../../transport/encoded-request.js';
import {
  GENERATION_OPTIONS,
  type GenerationOption,
  type GenerationOptions,
} from '../../../platform/config/capabilities.js';
import { ServiceError } from '../../../platform/common/service-error.js';

/** The JSON of a conversation with longer texts, or with more tools, is made in steps. In UTF-16 units. */
const LONG_CALL = 1024 * 1024;
const MANY_TOOLS = 64;

/** A protocol whose requests have a body of JSON. The JSON of a long conversation is made in steps. */
export abstract class JsonRequestProtocol<Options = unknown> {
  /** Returns the address and the headers. */
  protected abstract target(call: ChatCall, upstream: UpstreamConfig<Options>): Omit<UpstreamRequest, 'body'>;

  /**
   * Returns the value of the body.
   *
   * @throws {ServiceError} `invalid_request` when the provider could never accept the request.
   */
  protected abstract json(call: ChatCall, upstream: UpstreamConfig<Options>): object;

  request(call: ChatCall, upstream: UpstreamConfig<Options>): UpstreamRequest {
    return { ...this.target(call, upstream), body: stringifyWithSources(this.json(call, upstream)) };
  }

  /** Returns the same as `request`, with a body that is made in steps. `undefined`: a subclass makes its requests in another way. */
  requestInSteps(call: ChatCall, upstream: UpstreamConfig<Options>): Promise<EncodedRequest> | undefined {
    if (this.request !== JsonRequestProtocol.prototype.request) return undefined;
    const [target, json] = [this.target(call, upstream), this.json(call, upstream)];
    return encodeInSteps(json).then((pieces) => encodedRequest(target, pieces));
  }
}

/** Returns the request for a long conversation, made in steps. `undefined`: the protocol makes the request itself. */
export function requestInSteps(
  protocol: HttpProtocol<unknown, unknown>,
  call: ChatCall,
  upstream: UpstreamConfig,
): Promise<EncodedRequest> | undefined {
  return protocol instanceof JsonRequestProtocol && isLong(call) ? protocol.requestInSteps(call, upstream) : undefined;
}

function isLong({ messages, tools = [] }: ChatCall): boolean {
  let length = 0;
  for (const message of messages) {
    for (const text of textsOf(message)) length += text.length;
    for (const { url } of imagesOf(message)) length += url.length;
    if (length > LONG_CALL) return true;
  }
  return tools.length > MANY_TOOLS;
}

/** All generation options, for a provider that has the same names for them. */
export const SAME_OPTION_NAMES: OptionNames = Object.fromEntries(GENERATION_OPTIONS.map((name) => [name, name]));

/**
 * Returns the generation options of a call as members of the provider's request.
 *
 * @param names the provider's name of each option that the protocol takes.
 * @since 1.0
 */
export function optionMembers(options: GenerationOptions, names: OptionNames): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const [option, value] of Object.entries(options)) {
    const name = names[option as GenerationOption];
    if (name !== undefined) members[name] = value;
  }
  return members;
}

/** A member of a request that a provider could never accept. Another route of the model may accept it, so it is tried. */
export class InvalidMember extends ServiceError {
  /**
   * @param problem the end of a sentence that begins with the name of the member, such as `must not be empty for this model`.
   */
  constructor(
    private readonly member: string,
    private readonly problem: string,
  ) {
    super('invalid_request', `The field ${member} ${problem}.`, { details: [{ field: member, message: problem }] });
  }

  /** Returns the error for the caller, who knows the model by its id. */
  named(modelId: string): ServiceError {
    return new InvalidMember(this.member, this.problem.replace('this model', `the model ${modelId}`));
  }
}
