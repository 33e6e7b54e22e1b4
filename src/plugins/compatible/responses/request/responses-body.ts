import { z } from 'zod';
import { isObject } from '../../../../plugin-api/core/common.js';
import * as member from '../../shared/common-members.js';
import { listOf, ofType, variantOf } from '../../shared/checked-body.js';
import { decodeState } from '../response/output-items.js';
import { ItemTool, Tool, ToolChoice } from './tool-schemas.js';

/** What a client of a service that stores responses sends, and what it must send instead. */
const SEND_ITEMS =
  'is not available, because the service stores no responses. Send all items of the conversation in input. ' +
  'SDKs do this with store: false';

const Text = z.object({
  type: z.enum(['input_text', 'output_text', 'text', 'summary_text', 'reasoning_text']),
  text: z.string(),
});
const Refusal = z.object({ type: z.literal('refusal'), refusal: z.string() });
const Image = z
  .object({ type: z.literal('input_image'), image_url: member.imageUrl.nullish(), detail: member.imageDetail })
  .meta({ required: ['type', 'image_url'] });

const PARTS = member.unionError('type', 'must be input_text, input_image, output_text or refusal');
const texts = listOf(z.discriminatedUnion('type', [Text, Refusal], PARTS));
const contentOf = <Parts extends z.ZodType>(parts: Parts) =>
  z.union([z.string(), parts], { error: 'must be a string or an array' });

const Content = contentOf(listOf(z.discriminatedUnion('type', [Text, Refusal, Image], PARTS)));
const ContentWithoutImages = Content.refine(
  (content) => typeof content === 'string' || content.every(({ type }) => type !== 'input_image'),
  { error: 'must be text: images are possible in messages of the user and in results of tools' },
);
const TextContent = variantOf([contentOf(texts)], () => ContentWithoutImages);

/** A member that the client sends back and that has no effect. */
const echoed = z
  .unknown()
  .meta({ anyOf: [{ type: 'string' }, { type: 'null' }] })
  .optional();
const ofItem = { id: echoed, status: echoed };
const ofCall = { name: member.toolName, call_id: member.callId, namespace: member.text, ...ofItem };

const message = { ...ofItem, type: z.literal('message').nullish() };
const UserMessage = z.object({ ...message, role: z.literal('user'), content: Content });
const TextMessage = z.object({
  ...message,
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: TextContent,
});

const outputOf = <Type extends string>(type: Type) =>
  z.object({ type: z.literal(type), output: Content, call_id: member.callId, ...ofItem });

const SearchCall = z.object({
  type: z.literal('tool_search_call'),
  call_id: member.callId,
  namespace: member.text,
  arguments: z.union([z.string(), member.schemaObject], { error: 'must be a string or an object' }).nullish(),
});
/** Of a search by the provider, only the tools in its output matter. */
const ProviderSearch = z.object({}).transform(() => ({ type: 'provider_search' as const }));

const Reasoning = z.object({
  ...ofItem,
  type: z.literal('reasoning'),
  summary: texts.nullish(),
  content: texts.nullish(),
  encrypted_content: member.text.describe('Send it back as the response has it.'),
});
const unread = z
  .unknown()
  .transform(() => undefined)
  .optional();
/** The signature of a call. Other members have no effect. */
const Signature = Reasoning.extend({ summary: unread, content: unread });

/** Calls that OpenAI has run. They are over, and the answer after them has their results. */
const PAST_CALLS = [
  ...(['web_search_call', 'file_search_call', 'code_interpreter_call', 'image_generation_call'] as const),
  ...(['mcp_call', 'mcp_list_tools', 'mcp_approval_request', 'mcp_approval_response'] as const),
] as const;
const PastCall = z.object({ type: z.enum(PAST_CALLS) });

const ITEMS = {
  function_call: z.object({
    type: z.literal('function_call'),
    arguments: z.string().describe('A JSON text.'),
    ...ofCall,
  }),
  function_call_output: outputOf('function_call_output'),
  custom_tool_call: z.object({ type: z.literal('custom_tool_call'), input: z.string(), ...ofCall }),
  custom_tool_call_output: outputOf('custom_tool_call_output'),
  additional_tools: z.object({ type: z.literal('additional_tools'), tools: listOf(ItemTool).nullish() }),
  tool_search_output: z.object({
    type: z.literal('tool_search_output'),
    call_id: member.text,
    tools: listOf(ItemTool).nullish(),
  }),
  agent_message: z.object({ type: z.literal('agent_message'), content: TextContent }),
  configuration_update: z.object({
    type: z.literal('configuration_update'),
    reasoning: z.object({ effort: member.effort }).nullish(),
  }),
};
const Reference = member.refusal(`is an item_reference, which ${SEND_ITEMS}`);
const OtherItem = member.refusedType((type) =>
  typeof type === 'string'
    ? 'must be message, reasoning, function_call, custom_tool_call, an output of these calls, additional_tools, ' +
      'tool_search_call or tool_search_output'
    : 'must be a string',
);

function isSignature({ encrypted_content: content }: Readonly<Record<string, unknown>>): boolean {
  return typeof content === 'string' && decodeState(content).call !== undefined;
}

export const InputItem = variantOf(
  [UserMessage, TextMessage, ...Object.values(ITEMS), SearchCall, Reasoning, PastCall],
  (item) => {
    if (!isObject(item)) return OtherItem;
    const type = item['type'] ?? (member.has(item, 'role') ? 'message' : 'item_reference');
    switch (type) {
      case 'message':
        return item['role'] === 'user' ? UserMessage : TextMessage;
      case 'item_reference':
        return Reference;
      case 'reasoning':
        return isSignature(item) ? Signature : Reasoning;
      case 'tool_search_call':
        return member.has(item, 'call_id') ? SearchCall : ProviderSearch;
      default:
        return ofType(ITEMS, item) ?? (PAST_CALLS.includes(type as 'mcp_call') ? PastCall : OtherItem);
    }
  },
);

export type InputItem = z.infer<typeof InputItem>;
export type Content = z.infer<typeof Content>;
export type MessageItem = z.infer<typeof UserMessage> | z.infer<typeof TextMessage>;
export type ItemOf<Type extends InputItem['type']> = Extract<InputItem, { type: Type }>;

/** The items of one turn are one message, so there are more items than messages. */
const MAX_ITEMS = 10_000;
export const SUMMARIES = ['auto', 'concise', 'detailed'] as const;

const FORMATS = {
  text: z.object({ type: z.literal('text') }),
  json_object: z.object({ type: z.literal('json_object'), schema: member.schemaObject.nullish() }),
  json_schema: z.object({
    type: z.literal('json_schema'),
    name: member.text,
    description: member.text,
    schema: member.schemaObject,
    strict: member.flag,
  }),
};
/** Open Responses does not require the schema. Without a schema, the other members have no effect. */
const NoSchema = z.object({ type: z.literal('json_schema'), schema: z.null().optional() });
const OtherFormat = member.refusedType('must be one of text, json_object, json_schema');
const Format = variantOf([...Object.values(FORMATS), NoSchema], (format) => {
  const chosen = ofType(FORMATS, format);
  return chosen === FORMATS.json_schema && !member.has(format, 'schema') ? NoSchema : (chosen ?? OtherFormat);
});

const Included = z.unknown().refine((entry) => entry !== 'message.output_text.logprobs', {
  error: 'is not available: the service returns no log probabilities',
});

const LOGPROBS = 'the service returns no log probabilities';

/** The members of `POST /responses` that the service uses or refuses. The response names all other members. */
export const ResponsesBody = z.object({
  previous_response_id: member.refusedMember(SEND_ITEMS),
  conversation: member.refusedMember(SEND_ITEMS),
  prompt: member.refusedMember('is not available, because the service stores no prompts: send instructions and input'),
  background: member.refusedMember(
    'must be false, because the service stores no responses: send stream: true',
    member.is(false),
  ),
  max_tool_calls: member.refusedMember(
    'is not available: send parallel_tool_calls: false for one call in each response',
  ),
  top_logprobs: member.refusedMember(`must be 0: ${LOGPROBS}`, member.is(0)),
  logprobs: member.refusedMember(`must be false: ${LOGPROBS}`, member.is(false)),
  n: member.refusedMember('must be 1: the service generates one answer for each request', member.is(1)),
  audio: member.refusedMember('is not available: the service answers with text'),
  include: listOf(Included).nullish().describe('The encrypted reasoning is part of each response.'),
  reasoning: z
    .object({
      effort: member.effort,
      summary: z.enum(SUMMARIES).nullish().describe('Asks for the text of the reasoning, and shows it as a summary.'),
    })
    .nullish(),
  model: member.MODEL,
  instructions: member.text.describe('The first system message.'),
  input: z
    .union([z.string().meta({ minLength: 1 }), listOf(InputItem, MAX_ITEMS)], {
      error: 'must be a text or an array of items, and must not be empty',
    })
    .describe('The whole conversation: a text of the user, or items.'),
  tools: listOf(Tool).nullish().describe('Functions. The service runs no tools of its own.'),
  parallel_tool_calls: member.isParallel,
  tool_choice: ToolChoice.nullish(),
  max_output_tokens: member.tokenLimit.describe('The maximum number of tokens of the answer.'),
  temperature: member.temperature,
  top_p: member.topP,
  presence_penalty: member.penalty('tokens that have occurred'),
  frequency_penalty: member.penalty('tokens by the number of their occurrences'),
  text: z.object({ format: Format.nullish() }).nullish(),
  stream: member.isStream,
  store: z
    .unknown()
    .meta({ anyOf: [{ type: 'boolean' }, { type: 'null' }] })
    .optional()
    .describe('The service stores no responses. The response says `store: false`.'),
  truncation: z.unknown().optional().describe('It has no effect.'),
});

export type ResponsesBody = z.infer<typeof ResponsesBody>;
