import { asArrived, isJsonLonger } from '../../../../plugin-api/core/common.js';
import { DEFAULT_TEMPERATURE } from '../../../../plugin-api/core/chat.js';
import type { ConversationRequest, ResponseFormat } from '../../../../plugin-api/core/upstreams.js';
import type { SentBody } from '../../shared/checked-body.js';
import type { ResponseSettings } from '../response/response-resource.js';
import type { ResponsesBody } from './responses-body.js';
import type { ToolBody, ToolChoice } from './tool-schemas.js';

/** Longer instructions and tools are not repeated, because each stream repeats them three times. In UTF-16 units of JSON. */
const MAX_REPEATED = 1024 * 1024;

/**
 * Returns what the response repeats of a request. Without a value, it is the default of Open Responses.
 *
 * @param sent the body with all of its members.
 */
export function settingsOf(body: ResponsesBody, conversation: ConversationRequest, sent: SentBody): ResponseSettings {
  const { reasoning } = body;
  const sentTools = sent['tools'] as readonly SentBody[];
  const repeated = {
    instructions: body.instructions ?? null,
    tools: (body.tools ?? []).flatMap((tool, index) => toolOf(tool, sentTools[index] ?? {})),
  };
  return {
    ...(isJsonLonger(repeated, MAX_REPEATED) ? { instructions: null, tools: [] } : repeated),
    tool_choice: toolChoiceOf(body.tool_choice ?? 'auto'),
    parallel_tool_calls: conversation.parallel_tool_calls ?? true,
    text: { format: formatOf(conversation.response_format) },
    temperature: conversation.temperature ?? (conversation.top_p === undefined ? DEFAULT_TEMPERATURE : 1),
    top_p: conversation.top_p ?? 1,
    presence_penalty: conversation.presence_penalty ?? 0,
    frequency_penalty: conversation.frequency_penalty ?? 0,
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    max_output_tokens: conversation.max_tokens ?? null,
  };
}

/** Returns what the response has of a tool: nothing of a tool that is left out. */
function toolOf(tool: ToolBody, sent: SentBody): object[] {
  switch (tool.type) {
    case 'function': {
      const { type, name, description = null, parameters, strict = null } = tool;
      return [{ type, name, description, parameters: parameters ? asArrived(parameters) : null, strict }];
    }
    case 'custom': {
      const { type, name, description = null } = tool;
      return [{ type, name, description, format: sent['format'] ?? { type: 'text' } }];
    }
    case 'namespace': {
      const { type, name, description = null } = tool;
      return [{ type, name, description, tools: sent['tools'] ?? [] }];
    }
    default:
      return [];
  }
}

function toolChoiceOf(choice: ToolChoice): unknown {
  if (typeof choice === 'string') return choice;
  const { type } = choice;
  if (type !== 'allowed_tools') return { type, name: choice.name };
  const tools = choice.tools.map((tool) => ({ type: tool.type ?? undefined, name: tool.name ?? undefined }));
  return { type, tools, mode: choice.mode ?? 'auto' };
}

function formatOf(format: ResponseFormat | undefined): object {
  if (format?.type === 'json') return { type: 'json_object' };
  if (format?.type !== 'json_schema') return { type: 'text' };
  const { name, description = null, schema, strict = false } = format;
  return { type: 'json_schema', name, description, schema: asArrived(schema), strict };
}
