import {
  GENERATION_OPTIONS,
  type GenerationOption,
  type GenerationOptions,
} from '../../../platform/config/capabilities.js';
import type { OptionNames } from '../../contract/protocol.js';
import { ServiceError } from '../../../platform/common/service-error.js';

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
