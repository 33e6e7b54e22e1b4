import { renamed, type BodyNames } from '../../shared/body-fields.js';
import type { ResponsesRequest } from './responses-request.js';

const NAMES: BodyNames['members'] = [
  [/^max_tokens(?=\.|$)/, 'max_output_tokens'],
  [/^response_format(?=\.|$)/, 'text.format'],
  [/^tool_choice\.tool(?=\.|$)/, 'tool_choice.name'],
];

const MEMBERS_OF_CONTENT: Readonly<Record<string, string>> = {
  json: 'arguments',
  url: 'image_url',
  toolCallId: 'call_id',
  id: 'call_id',
  content: 'output',
};

/** Returns the path in the body for a path in the conversation, such as `input.3.content` for `messages.2.content`. */
export function bodyField(field: string, { drafts }: Pick<ResponsesRequest, 'drafts'>): string {
  const [member = '', message = '', content, piece = '', ...rest] = field.split('.');
  if (member !== 'messages') return renamed(field, NAMES);
  const draft = drafts[Number(message)];
  if (message === '' || draft === undefined) return 'input';
  const { path = draft.path } = draft.pieces[content === 'content' ? Number(piece) : -1] ?? {};
  return [path, ...rest.map((name) => MEMBERS_OF_CONTENT[name] ?? name)].join('.');
}
