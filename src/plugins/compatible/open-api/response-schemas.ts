import { z } from 'zod';
import { ResponsesBody, SUMMARIES } from '../responses/request/responses-body.js';
import { MODES } from '../responses/request/tool-schemas.js';
import { Effort, flag, text, toolName } from '../shared/common-members.js';
import { anyObject, seconds, tokens } from './common-schemas.js';

const ReasoningText = z.object({ type: z.literal('reasoning_text'), text: z.string() });
const SummaryText = z.object({ type: z.literal('summary_text'), text: z.string() });
const NamedTool = z.object({ type: z.literal('function'), name: toolName });

const Format = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: text,
    description: text,
    schema: anyObject.nullish(),
    strict: flag,
  }),
]);

const status = z.enum(['in_progress', 'completed', 'incomplete']);
const OutputText = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(anyObject),
  logprobs: z.array(anyObject),
});
const ResponseItem = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id: z.string(),
    status,
    role: z.literal('assistant'),
    content: z.array(OutputText),
  }),
  z.object({
    type: z.literal('function_call'),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
    status,
  }),
  z.object({
    type: z.literal('reasoning'),
    id: z.string(),
    status,
    summary: z.array(SummaryText),
    content: z.array(ReasoningText).optional(),
    encrypted_content: z.string().optional().describe('What the next turn sends back.'),
  }),
]);

const Response = z.object({
  id: z.string(),
  object: z.literal('response'),
  created_at: seconds,
  completed_at: seconds.nullable(),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  incomplete_details: z.object({ reason: z.literal('max_output_tokens') }).nullable(),
  model: z.string().describe('The model that the request has named.'),
  previous_response_id: z.null(),
  instructions: z.string().nullable(),
  output: z.array(ResponseItem),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(
    z.object({
      type: z.literal('function'),
      name: z.string(),
      description: z.string().nullable(),
      parameters: anyObject.nullable(),
      strict: z.boolean().nullable(),
    }),
  ),
  tool_choice: z.union([
    z.enum(MODES),
    NamedTool,
    z.object({ type: z.literal('allowed_tools'), tools: z.array(NamedTool), mode: z.enum(MODES) }),
  ]),
  truncation: z.literal('disabled'),
  parallel_tool_calls: z.boolean(),
  text: z.object({ format: Format }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.literal(0),
  temperature: z.number(),
  reasoning: z.object({ effort: Effort.nullable(), summary: z.enum(SUMMARIES).nullable() }),
  usage: z
    .object({
      input_tokens: tokens,
      input_tokens_details: z.object({ cached_tokens: tokens }),
      output_tokens: tokens,
      output_tokens_details: z.object({ reasoning_tokens: tokens }),
      total_tokens: tokens,
    })
    .nullable()
    .describe('The counts of the provider, or estimates. `null` if a count is unknown.'),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.null(),
  store: z.literal(false),
  background: z.literal(false),
  service_tier: z.literal('default'),
  metadata: anyObject,
  safety_identifier: z.null(),
  prompt_cache_key: z.null(),
});

const index = z.int().min(0);
const numbered = { sequence_number: index.describe('Counts the events from 0.') };
const ofItem = { ...numbered, item_id: z.string(), output_index: index };
const ofContent = { ...ofItem, content_index: index };
const ofSummary = { ...ofItem, summary_index: index };
const typed = <Type extends string>(...types: [Type, ...Type[]]) => ({ type: z.enum(types) });

const ResponseEvent = z.union([
  z.object({
    ...typed(
      'response.created',
      'response.in_progress',
      'response.completed',
      'response.incomplete',
      'response.failed',
    ),
    ...numbered,
    response: Response,
  }),
  z.object({
    ...typed('response.output_item.added', 'response.output_item.done'),
    ...numbered,
    output_index: index,
    item: ResponseItem,
  }),
  z.object({
    ...typed('response.content_part.added', 'response.content_part.done'),
    ...ofContent,
    part: z.discriminatedUnion('type', [OutputText, ReasoningText]),
  }),
  z.object({
    ...typed('response.output_text.delta'),
    ...ofContent,
    delta: z.string(),
    logprobs: z.array(anyObject),
  }),
  z.object({ ...typed('response.output_text.done'), ...ofContent, text: z.string(), logprobs: z.array(anyObject) }),
  z.object({ ...typed('response.reasoning_text.delta'), ...ofContent, delta: z.string() }),
  z.object({ ...typed('response.reasoning_text.done'), ...ofContent, text: z.string() }),
  z.object({
    ...typed('response.reasoning_summary_part.added', 'response.reasoning_summary_part.done'),
    ...ofSummary,
    part: SummaryText,
  }),
  z.object({ ...typed('response.reasoning_summary_text.delta'), ...ofSummary, delta: z.string() }),
  z.object({ ...typed('response.reasoning_summary_text.done'), ...ofSummary, text: z.string() }),
  z.object({ ...typed('response.function_call_arguments.delta'), ...ofItem, delta: z.string() }),
  z.object({
    ...typed('response.function_call_arguments.done'),
    ...ofItem,
    name: z.string(),
    arguments: z.string(),
  }),
  z.object({ ...typed('response.custom_tool_call_input.delta'), ...ofItem, delta: z.string() }),
  z.object({ ...typed('response.custom_tool_call_input.done'), ...ofItem, input: z.string() }),
  z.object({
    ...typed('error'),
    ...numbered,
    error: z.object({ type: z.string(), code: z.string(), message: z.string(), param: z.string().nullable() }),
  }),
]);

export const RESPONSE_SCHEMAS = { ResponseRequest: ResponsesBody, ResponseItem, Response, ResponseEvent };
