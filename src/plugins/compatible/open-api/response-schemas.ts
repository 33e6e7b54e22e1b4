import { z } from 'zod';
import { MAX_ITEMS, SUMMARIES } from '../responses/request/responses-request.js';
import { MODES } from '../responses/request/tools.js';
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

const InputText = z.object({ type: z.enum(['input_text', 'output_text', 'text']), text: z.string() });
const Refusal = z.object({ type: z.literal('refusal'), refusal: z.string() });
const InputImage = z.object({
  type: z.literal('input_image'),
  image_url: z.string().describe('A data URL, or an https URL.'),
  detail: imageDetail,
});
const ReasoningText = z.object({ type: z.literal('reasoning_text'), text: z.string() });
const SummaryText = z.object({ type: z.literal('summary_text'), text: z.string() });
const ofMessage = { type: z.literal('message').nullish(), id: z.string().nullish(), status: z.string().nullish() };
const content = z.union([z.string(), z.array(z.union([InputText, InputImage]))]);
const textContent = z.union([z.string(), z.array(z.union([InputText, Refusal]))]);

const InputItem = z.union([
  z.object({ ...ofMessage, role: z.literal('user'), content }),
  z.object({ ...ofMessage, role: z.enum(['system', 'developer', 'assistant']), content: textContent }),
  z.object({
    type: z.literal('function_call'),
    id: z.string().nullish(),
    call_id: z.string().min(1),
    name: toolName,
    arguments: z.string().describe('A JSON text.'),
    status: z.string().nullish(),
  }),
  z.object({
    type: z.literal('function_call_output'),
    id: z.string().nullish(),
    call_id: z.string().min(1),
    output: content,
    status: z.string().nullish(),
  }),
  z.object({
    type: z.literal('reasoning'),
    id: z.string().nullish(),
    summary: z.array(SummaryText).nullish(),
    content: z.array(ReasoningText).nullish(),
    encrypted_content: z.string().nullish().describe('Send it back as the response has it.'),
    status: z.string().nullish(),
  }),
  z
    .looseObject({
      type: z.enum([
        'custom_tool_call',
        'custom_tool_call_output',
        'additional_tools',
        'tool_search_call',
        'tool_search_output',
        'agent_message',
        'web_search_call',
      ]),
    })
    .describe('More items of agents.'),
]);

const NamedTool = z.object({ type: z.literal('function'), name: toolName });
const ChosenTool = z.looseObject({ type: z.string(), name: z.string().nullish(), namespace: z.string().nullish() });
const OtherTool = z
  .looseObject({ type: z.string() })
  .describe(
    'A `namespace` of functions, a `custom` tool, or a `tool_search` of the client. Tools of a service are left out.',
  );
const Format = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: z.string().nullish(),
    description: z.string().nullish(),
    schema: anyObject.nullish(),
    strict: z.boolean().nullish(),
  }),
]);

const ResponseRequest = z.object({
  model: MODEL,
  input: z
    .union([z.string().min(1), z.array(InputItem).max(MAX_ITEMS)])
    .describe('The whole conversation: a text of the user, or items. It may be missing if there are `instructions`.'),
  instructions: z.string().nullish().describe('The first system message.'),
  tools: z
    .array(
      z.union([
        z.object({
          ...NamedTool.shape,
          description: z.string().nullish(),
          parameters: toolParameters,
          strict: z.boolean().nullish(),
        }),
        OtherTool,
      ]),
    )
    .nullish()
    .describe('Functions. The service runs no tools of its own.'),
  tool_choice: z
    .union([
      z.enum(MODES),
      NamedTool,
      z.object({ type: z.literal('custom'), name: toolName }),
      z.object({ type: z.literal('allowed_tools'), tools: z.array(ChosenTool).min(1), mode: z.enum(MODES).nullish() }),
    ])
    .nullish(),
  parallel_tool_calls: isParallel,
  text: z.object({ format: Format.nullish() }).nullish(),
  reasoning: z
    .object({
      effort: z.enum(EFFORTS).nullish(),
      summary: z.enum(SUMMARIES).nullish().describe('Asks for the text of the reasoning, and shows it as a summary.'),
    })
    .nullish(),
  max_output_tokens: z.int().min(1).nullish().describe('The maximum number of tokens of the answer.'),
  temperature,
  top_p: topP,
  frequency_penalty: penalty('tokens by the number of their occurrences'),
  presence_penalty: penalty('tokens that have occurred'),
  stream: isStream,
  store: z.boolean().nullish().describe('The service stores no responses. The response says `store: false`.'),
});

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
  reasoning: z.object({ effort: z.enum(EFFORTS).nullable(), summary: z.enum(SUMMARIES).nullable() }),
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

export const RESPONSE_SCHEMAS = { ResponseRequest, ResponseItem, Response, ResponseEvent };
