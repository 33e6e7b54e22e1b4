import type { BodyNames } from '../../shared/body-fields.js';

export const MESSAGES_NAMES: BodyNames = {
  members: [
    [/^(tools\.\d+)\.parameters/, '$1.input_schema'],
    [/^tool_choice\.tool$/, 'tool_choice.name'],
    [/^response_format\.schema/, 'output_config.format.schema'],
    [/^response_format/, 'output_config.format'],
    [/^reasoning\.effort$/, 'output_config.effort'],
    [/^reasoning/, 'thinking'],
    [/^stop/, 'stop_sequences'],
    [/^user$/, 'metadata.user_id'],
    [/^parallel_tool_calls$/, 'tool_choice.disable_parallel_tool_use'],
  ],
  partMembers: [
    [/\.toolCallId$/, '.tool_use_id'],
    [/\.(?:url|mediaType)$/, '.source'],
    [/\.json$/, '.input'],
  ],
};
