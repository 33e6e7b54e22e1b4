import { z } from 'zod';
import { MAX_MESSAGES } from '../chat-completions/chat-completions-request.js';
import { EFFORTS } from '../shared/body-fields.js';
import {
  anyObject,
  imageDetail,
  isParallel,
  isStream,
  MODEL,
  penalty,
  seconds,
  temperature,
  tokens,
  toolName,
  toolParameters,
  topP,
} from './common-schemas.js';

const TextPart = z.object({ type: z.literal('text'), text: z.string() });
const RefusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() });
const ImagePart = z.object({
  type: z.literal('image_url'),
  image_url: z.object({ url: z.string().describe('A data URL, or an https URL.'), detail: imageDetail }),
});

const signed = {
  extra_content: z
    .object({ google: z.object({ thought_signature: z.string().nullish() }).nullish() })
    .nullish()
    .describe('The signature of the provider, if it signs its calls. Send it back with the call.'),
};
const Call = z.union([
  z.object({
    id: z.string().min(1),
    type: z.literal('function').optional(),
    function: z.object({ name: toolName, arguments: z.string().nullish().describe('A JSON text.') }),
    ...signed,
  }),
  z.object({
    id: z.string().min(1),
    type: z.literal('custom'),
    custom: z.object({ name: toolName, input: z.string() }),
    ...signed,
  }),
]);

const Message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: z.union([z.string(), z.array(TextPart)]) }),
  z.object({ role: z.literal('developer'), content: z.union([z.string(), z.array(TextPart)]) }),
  z.object({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [TextPart, ImagePart]))]),
  }),
  z.object({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [TextPart, RefusalPart]))]).nullish(),
    reasoning_content: z.string().nullish().describe('The reasoning of an earlier answer.'),
    tool_calls: z.array(Call).nullish(),
  }),
  z.object({
    role: z.literal('tool'),
    tool_call_id: z.string().min(1),
    content: z.union([z.string(), z.array(TextPart)]),
  }),
]);

const Tool = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('function'),
    function: z.object({
      name: toolName,
      description: z.string().nullish(),
      parameters: toolParameters,
      strict: z.boolean().nullish(),
    }),
  }),
  z.object({
    type: z.literal('custom'),
    custom: z
      .object({ name: toolName, description: z.string().nullish(), format: anyObject.nullish() })
      .describe('A tool whose input is a text. The model gets a function with the argument `input`.'),
  }),
]);

const ToolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.object({ type: z.literal('function'), function: z.object({ name: toolName }) }),
  z.object({ type: z.literal('custom'), custom: z.object({ name: toolName }) }),
  z.object({
    type: z.literal('allowed_tools'),
    allowed_tools: z.object({ mode: z.enum(['auto', 'required']), tools: z.array(anyObject).min(1) }),
  }),
]);

const ResponseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({
      name: z.string(),
      description: z.string().nullish(),
      schema: anyObject.nullish(),
      strict: z.boolean().nullish(),
    }),
  }),
]);

const ChatCompletionRequest = z.object({
  model: MODEL,
  messages: z.array(Message).min(1).max(MAX_MESSAGES).describe('The whole conversation.'),
  tools: z.array(Tool).nullish().describe('Functions. The service runs no tools of its own.'),
  tool_choice: ToolChoice.nullish(),
  parallel_tool_calls: isParallel,
  response_format: ResponseFormat.nullish(),
  reasoning_effort: z.enum(EFFORTS).nullish(),
  max_completion_tokens: z.int().min(1).nullish().describe('The maximum number of tokens of the answer.'),
  max_tokens: z.int().min(1).nullish().describe('The former name of `max_completion_tokens`.'),
  temperature,
  top_p: topP,
  stop: z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .describe('Texts that end the answer.'),
  seed: z.int().nullish(),
  frequency_penalty: penalty('tokens by the number of their occurrences'),
  presence_penalty: penalty('tokens that have occurred'),
  stream: isStream,
  stream_options: z
    .object({ include_usage: z.boolean().nullish().describe('Whether the last chunk has the token counts.') })
    .nullish(),
});

const FinishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter']);

const Usage = z
  .object({
    prompt_tokens: tokens,
    completion_tokens: tokens,
    total_tokens: tokens,
    prompt_tokens_details: z.object({ cached_tokens: tokens }).optional(),
    completion_tokens_details: z.object({ reasoning_tokens: tokens }).optional(),
  })
  .nullable()
  .describe('The counts of the provider, or estimates. `null` if a count is unknown.');

const identity = {
  id: z.string(),
  created: seconds,
  model: z.string().describe('The model that the request has named.'),
};

const ChatCompletion = z.object({
  ...identity,
  object: z.literal('chat.completion'),
  choices: z
    .array(
      z.object({
        index: z.literal(0),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.null(),
          reasoning_content: z.string().optional(),
          tool_calls: z
            .array(
              z.discriminatedUnion('type', [
                z.object({
                  id: z.string(),
                  type: z.literal('function'),
                  function: z.object({ name: z.string(), arguments: z.string() }),
                  ...signed,
                }),
                z.object({
                  id: z.string(),
                  type: z.literal('custom'),
                  custom: z.object({ name: z.string(), input: z.string() }),
                  ...signed,
                }),
              ]),
            )
            .optional(),
        }),
        logprobs: z.null(),
        finish_reason: FinishReason,
      }),
    )
    .min(1)
    .max(1),
  usage: Usage,
});

const ChatCompletionChunk = z.object({
  ...identity,
  object: z.literal('chat.completion.chunk'),
  choices: z
    .array(
      z.object({
        index: z.literal(0),
        delta: z.object({
          role: z.literal('assistant').optional().describe('Only in the first chunk.'),
          content: z.string().optional(),
          reasoning_content: z.string().optional(),
          tool_calls: z
            .array(
              z.object({
                index: z.int().min(0),
                id: z.string().optional().describe('Only in the first piece of a call, with `type` and `name`.'),
                type: z.enum(['function', 'custom']).optional(),
                function: z.object({ name: z.string().optional(), arguments: z.string() }).optional(),
                custom: z
                  .object({ name: z.string().optional(), input: z.string() })
                  .optional()
                  .describe('The input of a custom tool is in one piece.'),
                ...signed,
              }),
            )
            .optional(),
        }),
        finish_reason: FinishReason.nullable().describe('In exactly one chunk of a complete answer. Otherwise `null`.'),
      }),
    )
    .max(1)
    .describe('Empty in the chunk with the token counts.'),
  usage: Usage.optional(),
});

export const CHAT_COMPLETION_SCHEMAS = { ChatCompletionRequest, ChatCompletion, ChatCompletionChunk };
