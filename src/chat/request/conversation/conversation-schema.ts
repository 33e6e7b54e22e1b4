import { z } from 'zod';
import { Cache, MessageSchema, ToolName } from './message-schema.js';
import { jsonSource } from '../../../platform/common/json/json-source.js';

/** Bounds of a JSON Schema. */
const MAX_DEPTH = 64;
const MAX_SCHEMA_LENGTH = 128 * 1024;

/**
 * Returns what is wrong with a JSON Schema, as the end of a sentence. The service passes schemas on and checks only their size: at
 * most 64 levels, and 131,072 characters of JSON. Returns `undefined` for a valid schema.
 */
export function schemaProblem(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'must be an object';
  if (isDeeper(schema, MAX_DEPTH)) return `must have at most ${MAX_DEPTH} levels`;
  if (jsonSource(schema).length > MAX_SCHEMA_LENGTH) return `must have at most ${MAX_SCHEMA_LENGTH} characters`;
  return undefined;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

export const MAX_MESSAGES = 10_000;
const MAX_DESCRIPTION_LENGTH = 64 * 1024;
/** Anthropic takes this number. Others take fewer, and say so. */
const MAX_STOPS = 8_191;
const MAX_STOP_LENGTH = 256;
const MAX_USER_LENGTH = 512;

const Description = z.string().max(MAX_DESCRIPTION_LENGTH).optional();

const Schema = z.custom<Readonly<Record<string, unknown>>>().superRefine((schema, context) => {
  const problem = schemaProblem(schema);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const ToolSchema = z.strictObject({
  name: ToolName,
  description: Description,
  parameters: Schema,
  strict: z.boolean().optional(),
  cache: Cache.optional(),
});

const ResponseFormatSchema = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('text') }),
    z.strictObject({ type: z.literal('json') }),
    z.strictObject({
      type: z.literal('json_schema'),
      name: ToolName,
      description: Description,
      schema: Schema,
      strict: z.boolean().optional(),
    }),
  ],
  { error: 'must be text, json or json_schema' },
);

const ReasoningSchema = z.strictObject({
  effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).optional(),
  budget_tokens: z.int().min(1).optional(),
  include_text: z.boolean().optional(),
});

/** The members of a conversation that `POST /chat/stream` does not have, and the messages. */
export const ConversationMembers = z.object({
  messages: z.array(MessageSchema).min(1).max(MAX_MESSAGES),
  stop: z.array(z.string().min(1).max(MAX_STOP_LENGTH)).min(1).max(MAX_STOPS).optional(),
  tools: z.array(ToolSchema).optional(),
  tool_choice: z
    .union([z.enum(['auto', 'none', 'required']), z.strictObject({ tool: ToolName })], {
      error: 'must be auto, none, required or an object with the name of a tool',
    })
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  response_format: ResponseFormatSchema.optional(),
  reasoning: ReasoningSchema.optional(),
  user: z.string().min(1).max(MAX_USER_LENGTH).optional(),
});

export type ConversationMembers = z.infer<typeof ConversationMembers>;
