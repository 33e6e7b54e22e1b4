import type { Tool } from '../../../plugin-api/core/upstreams.js';
import { isObject, type Members } from './members.js';

const TEXT_INPUT = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};

/**
 * Reads the definition of a custom tool, whose input is a text: a function with the argument `input`. The model must follow a grammar of
 * the input by itself.
 *
 * @param grammar the member with the `syntax` and the `definition` of the grammar.
 * @throws {ServiceError} `invalid_request`.
 */
export function customTool(tool: Members, grammar: Members | undefined): Tool {
  const { syntax, definition } = { syntax: grammar?.text('syntax'), definition: grammar?.text('definition') };
  const rule = grammar && `The member input must match this ${syntax ?? ''} grammar:\n${definition ?? ''}`;
  const description = [tool.text('description'), rule].filter((text) => text !== undefined).join('\n\n');
  return { name: tool.requiredText('name'), description, parameters: TEXT_INPUT };
}

/** Returns the arguments of the function for the input of a custom tool. */
export function customArguments(input: string): string {
  return JSON.stringify({ input });
}

/** Returns the input in the arguments of the function. If the model has sent something else, this is the input. */
export function customInput(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) && typeof value['input'] === 'string' ? value['input'] : json;
  } catch {
    return json;
  }
}

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
