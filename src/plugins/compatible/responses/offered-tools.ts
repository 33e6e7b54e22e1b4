import type { Tool, ConversationRequest } from '../../../plugin-api/core/upstreams.js';
import { type Ignore, refused } from '../shared/checked-body.js';
import { customTool, functionOf } from '../shared/custom-tools.js';
import type { ResponsesBody } from './request/responses-body.js';
import { SEARCH_NAME, type ToolBody, type AllowedTool, type Chosen, type ToolChoice } from './request/tool-schemas.js';

/** What a call of a function is in the format. The conversation has functions only. */
export interface ToolOrigin {
  /** `custom`: a tool whose input is a text. `tool_search`: a search that the client runs. */
  readonly kind: 'function' | 'custom' | 'tool_search';
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** A tool of a request, as a function of the conversation. */
interface OfferedTool {
  readonly tool: Tool;
  readonly origin: ToolOrigin;
}

/** Returns the name of the function for a tool. */
export function functionName({ name, namespace }: Pick<ToolOrigin, 'name' | 'namespace'>): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}

interface Namespace {
  readonly name: string;
  readonly description?: string | null | undefined;
}

/**
 * Returns the functions for a tool: the functions of a namespace, and none for a tool that a service would run. Such a tool is only
 * offered, so the model can do without it.
 *
 * @param ignore names a tool that is left out.
 * @param namespace the namespace of the tool.
 */
function offeredTools(tool: ToolBody, ignore: Ignore, namespace?: Namespace): OfferedTool[] {
  switch (tool.type) {
    case 'namespace':
      return (tool.tools ?? []).flatMap((inner) => offeredTools(inner, ignore, tool));
    case 'function':
      return [offered(functionOf(tool), 'function', namespace)];
    case 'custom':
      return [offered(customTool(tool, tool.format), 'custom', namespace)];
    case SEARCH_NAME: {
      const { description, parameters } = tool;
      return [offered({ name: SEARCH_NAME, description: description ?? undefined, parameters }, SEARCH_NAME)];
    }
    case 'other':
      ignore(`tools.${tool.typeName}`);
      return [];
  }
}

function offered(tool: Tool, kind: ToolOrigin['kind'], of?: Namespace): OfferedTool {
  const origin: ToolOrigin = { kind, name: tool.name, ...(of !== undefined && { namespace: of.name }) };
  const description = tool.description || (of?.description ?? undefined);
  return { tool: { ...tool, name: functionName(origin), description }, origin };
}

type ToolUse = Pick<ConversationRequest, 'tools' | 'tool_choice' | 'parallel_tool_calls'>;

interface ReadTools {
  readonly toolUse: ToolUse;
  /** What each function is in the format, by the name of the function. */
  readonly origins: ReadonlyMap<string, ToolOrigin>;
}

/**
 * Converts the members about tools. With `allowed_tools`, the model gets the allowed tools only, so it cannot call another one.
 *
 * @param ofItems the tools in items of the input. They may repeat a tool.
 * @param ignore names a tool that is left out.
 * @throws {ServiceError} `invalid_request`.
 */
export function toolsOf(body: ResponsesBody, ofItems: readonly ToolBody[], ignore: Ignore): ReadTools {
  const own = (body.tools ?? []).flatMap((tool) => offeredTools(tool, ignore));
  const more = new Map(
    ofItems.flatMap((tool) => offeredTools(tool, ignore)).map((offered) => [offered.tool.name, offered]),
  );
  const all = [...own.filter(({ tool }) => !more.has(tool.name)), ...more.values()];
  const parallel_tool_calls = body.parallel_tool_calls ?? undefined;
  const { tools, tool_choice } = choiceOf(
    body.tool_choice ?? undefined,
    all.map(({ tool }) => tool),
  );
  return {
    toolUse: tools.length === 0 ? { tool_choice } : { tools, tool_choice, parallel_tool_calls },
    origins: new Map(all.map(({ tool, origin }) => [tool.name, origin])),
  };
}

function choiceOf(choice: ToolChoice | undefined, tools: readonly Tool[]): ToolUse & { tools: readonly Tool[] } {
  if (choice === undefined || typeof choice === 'string') {
    // Without tools, these modes say nothing.
    return { tools, ...(tools.length > 0 || choice === 'required' ? { tool_choice: choice } : {}) };
  }
  if (choice.type !== 'allowed_tools') return { tools, tool_choice: { tool: chosenName(choice) } };
  return { tools: allowedTools(choice.tools, tools), tool_choice: choice.mode ?? undefined };
}

function chosenName({ name, namespace }: Chosen): string {
  return functionName({ name, namespace: namespace ?? undefined });
}

/** Tools of other types were left out of the tools. */
function allowedTools(chosen: readonly AllowedTool[], tools: readonly Tool[]): readonly Tool[] {
  const allowed = new Set<string>();
  for (const [index, tool] of chosen.entries()) {
    if (!isChosen(tool)) continue;
    const name = chosenName(tool);
    if (!tools.some((offered) => offered.name === name)) {
      throw refused(`tool_choice.tools.${index}.name`, 'must be the name of a function in tools');
    }
    allowed.add(name);
  }
  if (allowed.size === 0) {
    throw refused('tool_choice.tools', 'must have a function: the service runs no tools of its own');
  }
  return tools.filter(({ name }) => allowed.has(name));
}

function isChosen(tool: AllowedTool): tool is Chosen {
  return tool.type === 'function' || tool.type === 'custom';
}
