import type { Request } from 'express';
import { ServiceError, cutText } from '../../../plugin-api/core/common.js';
import { type Message, isPromptTooLong } from '../../../plugin-api/core/upstreams.js';

/** Where a message of the conversation stands in the body of the client. */
export interface BodyPlace {
  /** The path of the message, such as `system` or `messages.2`. */
  readonly path: string;
  /** The path of each part of the content. Empty if the content is one text. */
  readonly parts: readonly string[];
}

/** A message of the conversation, and where its contents stand in the body. */
export interface MappedMessage extends BodyPlace {
  readonly message: Message;
}

/** A content of a message, with its path in the body. */
export interface Located<Part> {
  readonly part: Part;
  readonly path: string;
}

export const partsOf = <Part>(located: readonly Located<Part>[]): Part[] => located.map(({ part }) => part);
export const pathsOf = (located: readonly Located<unknown>[]): string[] => located.map(({ path }) => path);

/**
 * Leaves out messages without any content, which many clients send, for example an empty system prompt. An empty message of the user at the
 * end stays, so that the request is refused.
 */
export function withoutEmpty(mapped: readonly MappedMessage[]): MappedMessage[] {
  return mapped.filter(({ message: { role, content } }, index) => {
    return content.length > 0 || (role === 'user' && index === mapped.length - 1);
  });
}

type Names = readonly (readonly [conversation: RegExp, body: string])[];

/** The names that members of a conversation have in the body. The first pattern that fits counts. */
export interface BodyNames {
  readonly members: Names;
  /** The names of the members of a part of a content. */
  readonly partMembers: Names;
}

const MESSAGE = /^messages\.(\d+)(?:(\.content)(?:\.(\d+))?)?/;

/** Returns the error with the paths of the body instead of those of the conversation that was made from the body. */
export function withBodyFields(error: unknown, bodyField: (field: string) => string): unknown {
  if (!(error instanceof ServiceError) || error.details === undefined) return error;
  const details = error.details.map(({ field, message }) => ({ field: bodyField(field), message }));
  const { code, message, status } = error;
  return new ServiceError(code, message, { details, status });
}

/** Returns the path in the body for a path in the conversation whose messages have these places. */
export function placedField(field: string, places: readonly BodyPlace[], { members, partMembers }: BodyNames): string {
  const [found, index, content = '', part] = MESSAGE.exec(field) ?? [];
  if (found === undefined) return renamed(field, members);
  const place = places[Number(index)];
  if (place === undefined) return field;
  const ofPart = part === undefined ? undefined : place.parts[Number(part)];
  // The prompt of the system has no member `content`.
  const ofMessage = place.path.startsWith('messages.') ? place.path + content : place.path;
  return (ofPart ?? ofMessage) + renamed(field.slice(found.length), partMembers);
}

/** Replaces the first name that fits the path. */
export function renamed(path: string, names: Names): string {
  const [from, to] = names.find(([pattern]) => pattern.test(path)) ?? [];
  return from === undefined || to === undefined ? path : path.replace(from, to);
}

const MAX_MESSAGE_LENGTH = 4_000;

const OPENAI_TYPES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [429, 'rate_limit_error'],
]);

/** The codes that clients of OpenAI know, for codes of the service. */
const OPENAI_CODES: Readonly<Record<string, string>> = {
  unauthenticated: 'invalid_api_key',
  key_revoked: 'invalid_api_key',
  quota_exceeded: 'insufficient_quota',
  budget_exceeded: 'insufficient_quota',
};

const ANTHROPIC_TYPES: ReadonlyMap<number, string> = new Map([
  ...OPENAI_TYPES,
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
]);

interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

/** Returns an error in the format of OpenAI: the body of an error response, and the data of an error event. */
export function openAiError(error: ServiceError): OpenAiError {
  const { status } = error;
  return {
    error: {
      message: messageOf(error),
      type: OPENAI_TYPES.get(status) ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
      param: error.details?.[0]?.field ?? null,
      code: isTooLong(error) ? 'context_length_exceeded' : (OPENAI_CODES[error.code] ?? error.code),
    },
  };
}

/** Returns the body of an error response. An unknown path may be one of another API of the service, so its error has both formats. */
export function openAiErrorBody(error: ServiceError, { context: { requestId } }: Request): object {
  const body = openAiError(error);
  return error.code === 'not_found' ? { error: { ...body.error, request_id: requestId } } : body;
}

/** The same in the format of Anthropic. */
export function anthropicError(error: ServiceError, requestId: string): object {
  const type = ANTHROPIC_TYPES.get(error.status) ?? (error.status >= 500 ? 'api_error' : 'invalid_request_error');
  return { type: 'error', error: { type, message: messageOf(error), ...threadDetails(error) }, request_id: requestId };
}

/** Returns what makes a client with threads send the whole conversation again. */
function threadDetails({ details = [] }: ServiceError): object {
  return details.some(({ field }) => field === 'thread') ? { details: { error_code: 'thread_not_found' } } : {};
}

/** Whether the provider has refused a prompt because of its length. */
export function isTooLong({ code, message }: ServiceError): boolean {
  return code === 'upstream_rejected' && isPromptTooLong(message);
}

/** The formats have no member for details, so the message names each invalid member. */
function messageOf({ code, message, details = [] }: ServiceError): string {
  if (details.length === 0 || code !== 'invalid_request') return message;
  return cutText(details.map(({ field, message: problem }) => `${field}: ${problem}`).join('; '), MAX_MESSAGE_LENGTH);
}
