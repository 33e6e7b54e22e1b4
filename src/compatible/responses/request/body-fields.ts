import { ServiceError } from '../../../common/service-error.js';
import type { ResponsesRequest } from './responses-request.js';

const MEMBERS: Readonly<Record<string, string>> = {
  max_tokens: 'max_output_tokens',
  response_format: 'text.format',
  'tool_choice.tool': 'tool_choice.name',
};

const MEMBERS_OF_CONTENT: Readonly<Record<string, string>> = {
  json: 'arguments',
  url: 'image_url',
  toolCallId: 'call_id',
  id: 'call_id',
  content: 'output',
};

/** Returns an error about a conversation with the paths of the body. Other errors are returned as they are. */
export function withBodyFields(error: unknown, request: ResponsesRequest): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'invalid_request' || error.details === undefined) return error;
  const details = error.details.map(({ field, message }) => ({ field: bodyField(field, request), message }));
  const sentences = details.slice(0, 3).map(({ field, message }) => `${field} ${message}`);
  return new ServiceError('invalid_request', `The request is invalid: ${sentences.join('; ')}.`, { details });
}

/** Returns the path in the body for a path in the conversation, such as `input.3.content` for `messages.2.content`. */
export function bodyField(field: string, { drafts }: Pick<ResponsesRequest, 'drafts'>): string {
  const [member = '', message = '', content, piece = '', ...rest] = field.split('.');
  if (member !== 'messages') return renamed(field);
  const draft = drafts[Number(message)];
  if (message === '' || draft === undefined) return 'input';
  const { path = draft.path } = draft.pieces[content === 'content' ? Number(piece) : -1] ?? {};
  return [path, ...rest.map((name) => MEMBERS_OF_CONTENT[name] ?? name)].join('.');
}

function renamed(field: string): string {
  for (const [from, to] of Object.entries(MEMBERS)) {
    if (field === from || field.startsWith(`${from}.`)) return to + field.slice(from.length);
  }
  return field;
}
