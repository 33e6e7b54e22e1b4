import { DEFAULT_TEMPERATURE } from '../../../chat/request/requested-contents.js';
import type { ConversationRequest, ResponseFormat } from '../../../upstreams/contract/conversation.js';
import type { Members } from '../../shared/members.js';
import type { ResponseSettings } from '../response/response-resource.js';

/** Returns what the response repeats of a request that is read. Without a value, it is the default of Open Responses. */
export function settingsOf(body: Members, conversation: ConversationRequest): ResponseSettings {
  const reasoning = body.inner('reasoning');
  return {
    instructions: body.text('instructions') ?? null,
    tools: (body.objects('tools') ?? []).map(toolOf),
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

function toolOf(tool: Members): object {
  return {
    type: 'function',
    name: tool.requiredText('name'),
    description: tool.text('description') ?? null,
    parameters: tool.any('parameters') ?? null,
    strict: tool.boolean('strict') ?? null,
  };
}

function toolChoiceOf(body: Members): unknown {
  const choice = body.any('tool_choice') ?? 'auto';
  if (typeof choice === 'string') return choice;
  const chosen = body.inner('tool_choice');
  if (chosen?.text('type') === 'function') return { type: 'function', name: chosen.text('name') };
  const tools = chosen?.objects('tools')?.map((tool) => ({ type: 'function', name: tool.text('name') }));
  return { type: 'allowed_tools', tools, mode: chosen?.text('mode') ?? 'auto' };
}

function formatOf(format: ResponseFormat | undefined): object {
  if (format?.type === 'json') return { type: 'json_object' };
  if (format?.type !== 'json_schema') return { type: 'text' };
  const { name, description = null, schema, strict = false } = format;
  return { type: 'json_schema', name, description, schema, strict };
}
