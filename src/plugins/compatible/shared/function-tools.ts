import type { Tool } from '../../../upstreams/contract/conversation.js';
import type { Members } from './members.js';

/** A tool without parameters. */
const NO_PARAMETERS = { type: 'object', properties: {} };

/** Reads the definition of a function. @throws {ServiceError} `invalid_request`. */
export function functionOf(definition: Members): Tool {
  return {
    name: definition.requiredText('name'),
    description: definition.text('description'),
    parameters: definition.json('parameters') ?? NO_PARAMETERS,
    strict: definition.boolean('strict'),
  };
}
