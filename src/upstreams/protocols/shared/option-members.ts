import {
  GENERATION_OPTIONS,
  type GenerationOption,
  type GenerationOptions,
} from '../../../platform/config/capabilities.js';
import type { OptionNames } from '../../contract/protocol.js';

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
