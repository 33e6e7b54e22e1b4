import { asArrived, isJsonLonger } from '../../../../plugin-api/core/common.js';
import { DEFAULT_TEMPERATURE } from '../../../../plugin-api/core/chat.js';
import type { ConversationRequest, ResponseFormat } from '../../../../plugin-api/core/upstreams.js';
import type { Members } from '../../shared/members.js';
import type { ResponseSettings } from '../response/response-resource.js';

/** Longer instructions and tools are not repeated, because each stream repeats them three times. In UTF-16 units of JSON. */
const MAX_REPEATED = 1024 * 1024;

/** Returns what the response repeats of a request that is read. Without a value, it is the default of Open Responses. */
export function settingsOf(body: Members, conversation: ConversationRequest): ResponseSettings {
  const reasoning = body.inner('reasoning');
  const repeated = {
    instructions: body.text('instructions') ?? null,
    tools: (body.objects('tools') ?? []).flatMap(toolOf),
  };
  return {
    ...(isJsonLonger(repeated, MAX_REPEATED) ? { instructions: null, tools: [] } : repeated),
    tool_choice: toolChoiceOf(body),
    parallel_tool_calls: conversation.parallel_tool_calls ?? true,
    text: { format: formatOf(conversation.response_format) },
    temperature: conversation.temperature ?? (conversation.top_p === undefined ? DEFAULT_TEMPERATURE : 1),
    top_p: conversation.top_p ?? 1,
    presence_penalty: conversation.presence_penalty ?? 0,
    frequency_penalty: conversation.frequency_penalty ?? 0,
    reasoning: { effort: reasoning?.text('effort') ?? null, summary: reasoning?.text('summary') ?? null },
    max_output_tokens: conversation.max_tokens ?? null,
  };
}

/** Returns what the response has of a tool: nothing of a tool that is left out. */
function toolOf(tool: Members): object[] {
  const type = tool.requiredText('type');
  const [name, description] = [tool.text('name'), tool.text('description') ?? null];
  switch (type) {
    case 'function': {
      const [parameters, strict] = [tool.json('parameters') ?? null, tool.boolean('strict') ?? null];
      return [{ type, name, description, parameters: parameters && asArrived(parameters), strict }];
    }
    case 'custom':
      return [{ type, name, description, format: tool.any('format') ?? { type: 'text' } }];
    case 'namespace':
      return [{ type, name, description, tools: tool.any('tools') ?? [] }];
    default:
      return [];
  }
}

function toolChoiceOf(body: Members): unknown {
  const choice = body.any('tool_choice') ?? 'auto';
  if (typeof choice === 'string') return choice;
  const chosen = body.inner('tool_choice');
  const type = chosen?.text('type');
  if (type !== 'allowed_tools') return { type, name: chosen?.text('name') };
  const tools = chosen?.objects('tools')?.map((tool) => ({ type: tool.text('type'), name: tool.text('name') }));
  return { type: 'allowed_tools', tools, mode: chosen?.text('mode') ?? 'auto' };
}

function formatOf(format: ResponseFormat | undefined): object {
  if (format?.type === 'json') return { type: 'json_object' };
  if (format?.type !== 'json_schema') return { type: 'text' };
  const { name, description = null, schema, strict = false } = format;
  return { type: 'json_schema', name, description, schema: asArrived(schema), strict };
}
