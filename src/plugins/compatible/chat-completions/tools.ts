import type { ResponseFormat, Tool, ToolChoice } from '../../../plugin-api/core/upstreams.js';
import { refused, type Ignore } from '../shared/checked-body.js';
import { customTool, functionOf } from '../shared/custom-tools.js';
import type { AllowedTool, ChatCompletionsBody, ToolBody } from './chat-completions-body.js';

interface ReadTools {
  readonly tools: readonly Tool[];
  /** The names of the tools whose input is a text. */
  readonly customTools: readonly string[];
}

/**
 * Converts the tools. A tool that OpenAI would run is only offered, so the model can do without it.
 *
 * @param ignore names a tool that is left out.
 */
export function toolsOf(given: readonly ToolBody[], ignore: Ignore): ReadTools {
  const tools: Tool[] = [];
  const customTools: string[] = [];
  for (const tool of given) {
    if ('function' in tool) tools.push(functionOf(tool.function));
    else if ('custom' in tool) {
      tools.push(customTool(tool.custom, tool.custom.format?.grammar));
      customTools.push(tool.custom.name);
    } else ignore(`tools.${tool.type}`);
  }
  return { tools, customTools };
}

/** Returns the choice, and the tools that it allows. With `allowed_tools`, the model gets the allowed tools only. */
export function toolChoiceOf(
  { tool_choice: choice }: ChatCompletionsBody,
  tools: readonly Tool[],
): { readonly choice: ToolChoice | undefined; readonly offered: readonly Tool[] } {
  if (choice === undefined || choice === null) return { choice: undefined, offered: tools };
  if (typeof choice === 'string') return { choice, offered: tools };
  switch (choice.type) {
    case 'function':
      return { choice: { tool: choice.function.name }, offered: tools };
    case 'custom':
      return { choice: { tool: choice.custom.name }, offered: tools };
    case 'allowed_tools': {
      const { mode, tools: allowed } = choice.allowed_tools;
      return { choice: mode ?? undefined, offered: allowedTools(allowed, tools) };
    }
  }
}

const ALLOWED = 'tool_choice.allowed_tools.tools';

/** Tools of other types were left out of the tools. */
function allowedTools(allowed: readonly AllowedTool[], tools: readonly Tool[]): readonly Tool[] {
  const names = new Set<string>();
  for (const [index, tool] of allowed.entries()) {
    const called = 'function' in tool ? tool.function : 'custom' in tool ? tool.custom : undefined;
    if (called === undefined) continue;
    const { name } = called;
    if (!tools.some((offered) => offered.name === name))
      throw refused(`${ALLOWED}.${index}.${tool.type}.name`, 'must be the name of a tool in tools');
    names.add(name);
  }
  if (names.size === 0) throw refused(ALLOWED, 'must have a function: the service runs no tools of its own');
  return tools.filter(({ name }) => names.has(name));
}

export function responseFormatOf({ response_format: format }: ChatCompletionsBody): ResponseFormat | undefined {
  if (format?.type === 'json_object') return { type: 'json' };
  if (format?.type !== 'json_schema') return undefined;
  const { name, description, schema, strict } = format.json_schema;
  return {
    type: 'json_schema',
    name,
    description: description ?? undefined,
    schema: schema ?? {},
    strict: strict ?? undefined,
  };
}
