import { ServiceError } from '../../common/service-error.js';

/** The names that members of a conversation have in the body. */
const MEMBERS: readonly (readonly [conversation: RegExp, body: string])[] = [
  [/^(tools\.\d+)\./, '$1.function.'],
  [/^tool_choice\.tool$/, 'tool_choice.function.name'],
  [/^response_format\./, 'response_format.json_schema.'],
  [/^reasoning\.effort$/, 'reasoning_effort'],
];
const NEWER_LIMIT: readonly [RegExp, string] = [/^max_tokens$/, 'max_completion_tokens'];

/**
 * Returns an error about a conversation with the names of the body. Other errors are returned as they are.
 *
 * @param hasNewerLimit whether the body has `max_completion_tokens`.
 */
export function withBodyFields(error: unknown, hasNewerLimit: boolean): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'invalid_request' || error.details === undefined) return error;
  const names = hasNewerLimit ? [...MEMBERS, NEWER_LIMIT] : MEMBERS;
  const details = error.details.map(({ field, message }) => {
    const [from, to] = names.find(([pattern]) => pattern.test(field)) ?? [];
    return { field: from === undefined || to === undefined ? field : field.replace(from, to), message };
  });
  return new ServiceError('invalid_request', error.message, { details });
}
