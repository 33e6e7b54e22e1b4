import { z } from 'zod';
import { isObject } from '../../../plugin-api/core/common.js';
import type { Tool } from '../../../plugin-api/core/upstreams.js';
import { flag, schemaObject, text, toolName } from './common-members.js';

export const CustomTool = z.object({ name: toolName, description: text });
export const FunctionTool = CustomTool.extend({
  parameters: schemaObject.nullish().describe('The JSON Schema of the arguments.'),
  strict: flag,
});
export const Grammar = z.object({ syntax: text, definition: text });

const TEXT_INPUT = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};

/**
 * Returns the function for a custom tool, whose input is a text: a function with the argument `input`. The model must follow a grammar of
 * the input by itself.
 */
export function customTool(tool: z.infer<typeof CustomTool>, grammar?: z.infer<typeof Grammar> | null): Tool {
  const rule =
    grammar && `The member input must match this ${grammar.syntax ?? ''} grammar:\n${grammar.definition ?? ''}`;
  const description = [tool.description, rule].filter((text) => (text ?? undefined) !== undefined).join('\n\n');
  return { name: tool.name, description, parameters: TEXT_INPUT };
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

export function functionOf({ name, description, parameters, strict }: z.infer<typeof FunctionTool>): Tool {
  return {
    name,
    description: description ?? undefined,
    parameters: parameters ?? NO_PARAMETERS,
    strict: strict ?? undefined,
  };
}
