import type { ResponseFormat } from '../../../upstreams/contract/conversation.js';
import type { Members } from '../../shared/members.js';

/** Reads `format` of the member `text`. @throws {ServiceError} `invalid_request`. */
export function responseFormatOf(text: Members): ResponseFormat | undefined {
  const format = text.inner('format');
  if (format === undefined) return undefined;
  const type = format.required('type', format.oneOf('type', ['text', 'json_object', 'json_schema']));
  if (type === 'text') return undefined;
  const schema = format.json('schema');
  // Open Responses does not require the schema. Without a schema, any JSON object is valid.
  if (type === 'json_object' || schema === undefined) return { type: 'json' };
  return {
    type: 'json_schema',
    name: format.text('name') ?? 'response',
    description: format.text('description'),
    schema,
    strict: format.boolean('strict'),
  };
}
