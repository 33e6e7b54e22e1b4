import { ServiceError } from '../../../common/service-error.js';
import type { MappedMessage } from './conversation-messages.js';

/** The names that members of a conversation have in the body. */
const MEMBERS: readonly (readonly [conversation: RegExp, body: string])[] = [
  [/^(tools\.\d+)\.parameters/, '$1.input_schema'],
  [/^tool_choice\.tool$/, 'tool_choice.name'],
  [/^response_format\.schema/, 'output_config.format.schema'],
  [/^response_format/, 'output_config.format'],
  [/^reasoning\.effort$/, 'output_config.effort'],
  [/^reasoning/, 'thinking'],
  [/^stop/, 'stop_sequences'],
  [/^user$/, 'metadata.user_id'],
  [/^parallel_tool_calls$/, 'tool_choice.disable_parallel_tool_use'],
];
/** The same for the members of a part of a content. */
const PART_MEMBERS: readonly (readonly [conversation: RegExp, body: string])[] = [
  [/\.toolCallId$/, '.tool_use_id'],
  [/\.(?:url|mediaType)$/, '.source'],
  [/\.json$/, '.input'],
];
const MESSAGE = /^messages\.(\d+)(?:\.content(?:\.(\d+))?)?/;

/** Returns the error with the paths of the body instead of those of the conversation that was made from the body. */
export function withClientPaths(error: unknown, mapped: readonly MappedMessage[]): unknown {
  if (!(error instanceof ServiceError) || error.details === undefined) return error;
  const details = error.details.map(({ field, message }) => ({ field: clientPath(field, mapped), message }));
  const { code, message, status } = error;
  return new ServiceError(code, message, { details, status });
}

function clientPath(field: string, mapped: readonly MappedMessage[]): string {
  const [found, index, part] = MESSAGE.exec(field) ?? [];
  if (found === undefined) return renamed(field, MEMBERS);
  const origin = mapped[Number(index)];
  if (origin === undefined) return field;
  const path = (part === undefined ? undefined : origin.parts[Number(part)]) ?? origin.path;
  return path + renamed(field.slice(found.length), PART_MEMBERS);
}

function renamed(path: string, names: readonly (readonly [RegExp, string])[]): string {
  const [from, to] = names.find(([pattern]) => pattern.test(path)) ?? [];
  return from === undefined || to === undefined ? path : path.replace(from, to);
}
