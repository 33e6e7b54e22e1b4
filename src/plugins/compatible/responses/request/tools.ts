import type { ConversationRequest, Tool } from '../../../../plugin-api/core/upstreams.js';
import type { Members } from '../../shared/members.js';
import { functionName, offeredTools, type OfferedTool, type ToolOrigin } from '../offered-tools.js';

export const MODES = ['auto', 'none', 'required'] as const;

type ToolUse = Pick<ConversationRequest, 'tools' | 'tool_choice' | 'parallel_tool_calls'>;

interface ReadTools {
  readonly toolUse: ToolUse;
  /** What each function is in the format, by the name of the function. */
  readonly origins: ReadonlyMap<string, ToolOrigin>;
}

/**
 * Reads the members about tools. With `allowed_tools`, the model gets the allowed tools only, so it cannot call another one.
 *
 * @param ofItems the tools in items of the input. They may repeat a tool.
 * @param ignore names a tool that is left out.
 * @throws {ServiceError} `invalid_request`.
 */
export function toolsOf(body: Members, ofItems: readonly Members[], ignore: (member: string) => void): ReadTools {
  const own = (body.objects('tools') ?? []).flatMap((tool) => offeredTools(tool, ignore));
  const more = new Map(
    ofItems.flatMap((tool) => offeredTools(tool, ignore)).map((offered) => [offered.tool.name, offered]),
  );
  const tools = [...own.filter(({ tool }) => !more.has(tool.name)), ...more.values()];
  const parallel_tool_calls = body.boolean('parallel_tool_calls');
  const { offered, tool_choice } = choiceOf(body, tools);
  return {
    toolUse: offered.length === 0 ? { tool_choice } : { tools: offered, tool_choice, parallel_tool_calls },
    origins: new Map(tools.map(({ tool, origin }) => [tool.name, origin])),
  };
}

function choiceOf(body: Members, tools: readonly OfferedTool[]): Pick<ToolUse, 'tool_choice'> & { offered: Tool[] } {
  const choice = body.any('tool_choice');
  const offered = tools.map(({ tool }) => tool);
  if (choice === undefined || typeof choice === 'string') {
    const mode = body.oneOf('tool_choice', MODES);
    // Without tools, these modes say nothing.
    return { offered, ...(tools.length > 0 || mode === 'required' ? { tool_choice: mode } : {}) };
  }
  const chosen = body.inner('tool_choice');
  switch (chosen?.text('type')) {
    case 'function':
    case 'custom':
      return { offered, tool_choice: { tool: chosenName(chosen) } };
    case 'allowed_tools':
      return { offered: allowedTools(chosen, offered), tool_choice: chosen.oneOf('mode', MODES) };
    default:
      throw body.refused(
        'tool_choice.type',
        'must be function, custom or allowed_tools: the service runs no tools of its own',
      );
  }
}

function chosenName(choice: Members): string {
  return functionName({ name: choice.requiredText('name'), namespace: choice.text('namespace') });
}

/** Tools of other types were left out of the tools. */
function allowedTools(choice: Members, tools: readonly Tool[]): Tool[] {
  const allowed = new Set<string>();
  for (const tool of choice.objects('tools') ?? []) {
    if (!['function', 'custom'].includes(tool.text('type') ?? '')) continue;
    const name = chosenName(tool);
    if (!tools.some((offered) => offered.name === name)) {
      throw tool.refused('name', 'must be the name of a function in tools');
    }
    allowed.add(name);
  }
  if (allowed.size === 0) throw choice.refused('tools', 'must have a function: the service runs no tools of its own');
  return tools.filter(({ name }) => allowed.has(name));
}
