import type { BodyNames } from '../shared/body-fields.js';

/** @param hasNewerLimit whether the body has `max_completion_tokens`. */
export const chatCompletionsNames = (hasNewerLimit: boolean): BodyNames => ({
  members: [
    [/^(tools\.\d+)\./, '$1.function.'],
    [/^tool_choice\.tool$/, 'tool_choice.function.name'],
    [/^response_format\./, 'response_format.json_schema.'],
    [/^reasoning\.effort$/, 'reasoning_effort'],
    ...(hasNewerLimit ? [[/^max_tokens$/, 'max_completion_tokens'] as const] : []),
  ],
  partMembers: [
    [/\.toolCallId$/, '.tool_call_id'],
    [/\.(?:url|mediaType)$/, '.image_url.url'],
    [/\.json$/, '.function.arguments'],
    [/\.name$/, '.function.name'],
  ],
});
