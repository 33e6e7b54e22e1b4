import type { z } from 'zod';
import { schemaProblems } from '../../../chat/request/conversation/schema-problems.js';
import { invalidRequest } from '../../../http/request/invalid-request.js';
import { ignoredPaths } from './ignored-paths.js';
import { CountTokensBody, MessagesBody } from './messages-body.js';
import { countTokensRequest, messagesRequest, type MappedRequest, type MessagesRequest } from './messages-request.js';

type SentBody = Readonly<Record<string, unknown>>;
type Ignore = (member: string) => void;

/** Checks a body, and names the members that the schema does not have. @throws {ServiceError} `invalid_request`. */
function checked<Schema extends z.ZodType>(schema: Schema, body: SentBody, ignore: Ignore): z.infer<Schema> {
  const result = schema.safeParse(body, { reportInput: true });
  if (!result.success) throw invalidRequest(schemaProblems(result.error.issues));
  for (const path of ignoredPaths(body, result.data)) ignore(path);
  return result.data;
}

/** Reads the bodies of `POST messages`. */
export const MESSAGES_PARSER = {
  parse(body: SentBody, ignore: Ignore): MessagesRequest {
    return messagesRequest(checked(MessagesBody, body, ignore));
  },
};

/** Reads the bodies of `POST messages/count_tokens`. */
export const COUNT_TOKENS_PARSER = {
  parse(body: SentBody, ignore: Ignore): MappedRequest {
    return countTokensRequest(checked(CountTokensBody, body, ignore));
  },
};
