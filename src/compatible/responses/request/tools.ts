import type { ConversationRequest, Tool } from '../../../upstreams/contract/conversation.js';
import { functionOf } from '../../shared/function-tools.js';
import type { Members } from '../../shared/members.js';

export const MODES = ['auto', 'none', 'required'] as const;

type ToolUse = Pick<ConversationRequest, 'tools' | 'tool_choice' | 'parallel_tool_calls'>;

/**
 * Reads the members about tools. With `allowed_tools`, the model gets the allowed tools only, so it cannot call another one.
 *
 * @throws {ServiceError} `invalid_request`.
 */
export function toolUseOf(body: Members): ToolUse {
  const tools = body.objects('tools')?.map(toolOf) ?? [];
  const parallel_tool_calls = body.boolean('parallel_tool_calls');
  const { offered, tool_choice } = choiceOf(body, tools);
  return offered.length === 0 ? { tool_choice } : { tools: offered, tool_choice, parallel_tool_calls };
}

function choiceOf(body: Members, tools: readonly Tool[]): Pick<ToolUse, 'tool_choice'> & { offered: readonly Tool[] } {
  const choice = body.any('tool_choice');
  if (choice === undefined || typeof choice === 'string') {
    const mode = body.oneOf('tool_choice', MODES);
    // Without tools, these modes say nothing.
    return { offered: tools, ...(tools.length > 0 || mode === 'required' ? { tool_choice: mode } : {}) };
  }
  const chosen = body.inner('tool_choice');
  switch (chosen?.text('type')) {
    case 'function':
      return { offered: tools, tool_choice: { tool: chosen.requiredText('name') } };
    case 'allowed_tools':
      return { offered: allowedTools(chosen, tools), tool_choice: chosen.oneOf('mode', MODES) };
    default:
      throw body.refused('tool_choice.type', 'must be function or allowed_tools: the service runs no tools of its own');
  }
}

function toolOf(tool: Members): Tool {
  const type = tool.requiredText('type');
  if (type !== 'function') {
    throw tool.refused('type', `must be function: the service runs no tools of its own, so ${type} is not available`);
  }
  return functionOf(tool);
}

function allowedTools(choice: Members, tools: readonly Tool[]): readonly Tool[] {
  const allowed = new Set<string>();
  for (const tool of choice.objects('tools') ?? []) {
    const name = tool.requiredText('name');
    if (tool.text('type') !== 'function' || !tools.some((offered) => offered.name === name)) {
      throw tool.refused('name', 'must be the name of a function in tools');
    }
    allowed.add(name);
  }
  if (allowed.size === 0) throw choice.refused('tools', 'must not be empty');
  return tools.filter(({ name }) => allowed.has(name));
}
