import type { ConversationRequest, Tool } from '../../../../plugin-api/core/upstreams.js';
import { refused, type Ignore } from '../../shared/checked-body.js';
import { functionName, offeredTools, type ToolOrigin } from '../offered-tools.js';
import type { ResponsesBody } from './responses-body.js';
import type { AllowedTool, Chosen, ToolBody, ToolChoice } from './tool-schemas.js';

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
