import { z } from 'zod';
import { ChatCompletionsBody, signed } from '../chat-completions/chat-completions-body.js';
import { seconds, tokens } from './common-schemas.js';

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

export const CHAT_COMPLETION_SCHEMAS = {
  ChatCompletionRequest: ChatCompletionsBody,
  ChatCompletion,
  ChatCompletionChunk,
};
