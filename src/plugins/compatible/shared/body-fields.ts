import { ServiceError } from '../../../plugin-api/core/common.js';
import type { Message } from '../../../plugin-api/core/upstreams.js';

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
