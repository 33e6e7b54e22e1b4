import type { ResponseFormat, Tool, ToolChoice } from '../../../plugin-api/core/upstreams.js';
import { customTool, functionOf } from '../shared/custom-tools.js';
import { isObject, Members } from '../shared/members.js';

interface ReadTools {
  readonly tools: readonly Tool[];
  /** The names of the tools whose input is a text. */
  readonly customTools: readonly string[];
}

/**
 * Reads the tools. A tool that OpenAI would run is only offered, so the model can do without it.
 *
 * @param ignore names a tool that is left out.
 */
export function toolsOf(given: readonly unknown[], ignore: (member: string) => void): ReadTools {
  const tools: Tool[] = [];
  const customTools: string[] = [];
  for (const [index, value] of given.entries()) {
    const tool = Members.of(value, `tools.${index}`);
    switch (tool.requiredText('type')) {
      case 'function':
        tools.push(functionOf(tool.required('function', tool.inner('function'))));
        break;
      case 'custom': {
        const custom = tool.required('custom', tool.inner('custom'));
        const read = customTool(custom, custom.inner('format')?.inner('grammar'));
        tools.push(read);
        customTools.push(read.name);
        break;
      }
      default:
        ignore(`tools.${tool.requiredText('type')}`);
    }
  }
  return { tools, customTools };
}

/** Returns the choice, and the tools that it allows. With `allowed_tools`, the model gets the allowed tools only. */
export function toolChoiceOf(
  body: Members,
  tools: readonly Tool[],
): { readonly choice: ToolChoice | undefined; readonly offered: readonly Tool[] } {
  const choice = body.any('tool_choice');
  if (choice === undefined || choice === 'auto' || choice === 'none' || choice === 'required')
    return { choice, offered: tools };
  const chosen = isObject(choice) ? body.inner('tool_choice') : undefined;
  const type = chosen?.oneOf('type', ['function', 'custom', 'allowed_tools']);
  const called = type && chosen?.inner(type);
  if (called === undefined) {
    throw body.refused('tool_choice', 'must be auto, none, required or {"type":"function","function":{"name":…}}');
  }
  if (type !== 'allowed_tools') return { choice: { tool: called.requiredText('name') }, offered: tools };
  return { choice: called.oneOf('mode', ['auto', 'required'] as const), offered: allowedTools(called, tools) };
}

/** Tools of other types were left out of the tools. */
function allowedTools(allowed: Members, tools: readonly Tool[]): readonly Tool[] {
  const names = new Set<string>();
  for (const tool of allowed.objects('tools') ?? []) {
    const type = tool.requiredText('type');
    if (type !== 'function' && type !== 'custom') continue;
    const called = tool.required(type, tool.inner(type));
    const name = called.requiredText('name');
    if (!tools.some((offered) => offered.name === name))
      throw called.refused('name', 'must be the name of a tool in tools');
    names.add(name);
  }
  if (names.size === 0) throw allowed.refused('tools', 'must have a function: the service runs no tools of its own');
  return tools.filter(({ name }) => names.has(name));
}

export function responseFormatOf(body: Members): ResponseFormat | undefined {
  const format = body.inner('response_format');
  switch (format?.oneOf('type', ['text', 'json_object', 'json_schema'])) {
    case undefined:
      if (format !== undefined) throw format.refused('type', 'is required');
      return undefined;
    case 'text':
      return undefined;
    case 'json_object':
      return { type: 'json' };
    case 'json_schema': {
      const definition = format.required('json_schema', format.inner('json_schema'));
      return {
        type: 'json_schema',
        name: definition.requiredText('name'),
        description: definition.text('description'),
        schema: definition.json('schema') ?? {},
        strict: definition.boolean('strict'),
      };
    }
  }
}
