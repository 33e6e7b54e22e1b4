import { z } from 'zod';
import { CountTokensBody, MessagesBody } from '../messages/body/messages-body.js';
import { anyObject, tokens } from './common-schemas.js';

const signature = z.string().optional().describe('Only if the provider signs its calls. Send it back with the block.');

const MessageBlock = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string(), citations: z.array(anyObject) }),
  z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.object({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string(),
    input: anyObject,
    caller: z.object({ type: z.literal('direct') }),
    signature,
  }),
]);

const MessageEndUsage = z.object({
  input_tokens: tokens.describe('Without the cached tokens. 0 if the count is unknown.'),
  cache_creation_input_tokens: tokens.nullable(),
  cache_read_input_tokens: tokens.nullable(),
  output_tokens: tokens.describe('0 if the count is unknown.'),
  output_tokens_details: z.object({ thinking_tokens: tokens }).nullable(),
  server_tool_use: z.null(),
});

const end = {
  stop_reason: z.enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal']).nullable(),
  stop_sequence: z.string().nullable(),
  stop_details: z.null(),
  container: z.null(),
};

const Message = z.object({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string().describe('The model that the request has named.'),
  content: z.array(MessageBlock),
  ...end,
  diagnostics: z.null(),
  usage: MessageEndUsage.extend({
    cache_creation: z.null(),
    service_tier: z.null(),
    inference_geo: z.null(),
    speed: z.null(),
  }),
});

const index = z.int().min(0);
const MessageEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: Message }),
  z.object({ type: z.literal('content_block_start'), index, content_block: MessageBlock }),
  z.object({
    type: z.literal('content_block_delta'),
    index,
    delta: z.discriminatedUnion('type', [
      z.object({ type: z.literal('text_delta'), text: z.string() }),
      z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
      z.object({ type: z.literal('signature_delta'), signature: z.string() }),
      z.object({ type: z.literal('input_json_delta'), partial_json: z.string() }),
    ]),
  }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({ type: z.literal('message_delta'), delta: z.object(end), usage: MessageEndUsage }),
  z.object({ type: z.literal('message_stop') }),
  z.object({ type: z.literal('ping') }),
]);

export const MESSAGE_SCHEMAS = {
  MessageRequest: MessagesBody,
  CountTokensRequest: CountTokensBody,
  MessageBlock,
  Message,
  MessageEvent,
  TokenCount: z.object({ input_tokens: tokens.describe('The estimated number of tokens of the prompt.') }),
};
