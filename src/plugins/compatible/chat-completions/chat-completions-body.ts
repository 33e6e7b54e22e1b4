import { z } from 'zod';
import { isObject } from '../../../plugin-api/core/common.js';
import * as member from '../shared/common-members.js';
import { CustomTool, FunctionTool, Grammar } from '../shared/custom-tools.js';
import { listOf, ofType, variantOf } from '../shared/checked-body.js';

const MAX_MESSAGES = 10_000;

const STRING_OR_ARRAY = { error: 'must be a string or an array' };

const TextPart = z.object({ type: z.literal('text'), text: z.string() });
const RefusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() });
const ImagePart = z.object({
  type: z.literal('image_url'),
  image_url: z.object({ url: member.imageUrl, detail: member.imageDetail }),
});

const Texts = z.union(
  [
    z.string(),
    listOf(z.discriminatedUnion('type', [TextPart, RefusalPart], member.unionError('type', 'must be text'))),
  ],
  STRING_OR_ARRAY,
);
const UserContent = z.union(
  [
    z.string(),
    listOf(z.discriminatedUnion('type', [TextPart, ImagePart], member.unionError('type', 'must be text or image_url'))),
  ],
  STRING_OR_ARRAY,
);

export const signed = {
  extra_content: z
    .object({ google: z.object({ thought_signature: member.text }).nullish() })
    .nullish()
    .describe('The signature of the provider, if it signs its calls. Send it back with the call.'),
};
const ofCall = { ...signed, id: member.callId };
const FunctionCall = z.object({
  type: z.unknown().meta({ type: 'string', const: 'function' }).optional(),
  function: z.object({ name: member.toolName, arguments: member.text.describe('A JSON text.') }),
  ...ofCall,
});
const CustomCall = z.object({
  type: z.literal('custom'),
  custom: z.object({ name: member.toolName, input: z.string() }),
  ...ofCall,
});
const Call = variantOf([FunctionCall, CustomCall], (call) => {
  return ofType({ custom: CustomCall }, call) !== undefined && member.has(call, 'custom') ? CustomCall : FunctionCall;
});

const name = z.unknown().optional().describe('It has no effect.');

const Message = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.enum(['system', 'developer']), content: Texts.nullish(), name }),
    z.object({ role: z.literal('user'), content: UserContent, name }),
    z.object({
      role: z.literal('assistant'),
      content: Texts.nullish(),
      reasoning_content: member.text.describe('The reasoning of an earlier answer.'),
      /** With `reasoning_content`, any type is accepted, because the member then has no effect. */
      reasoning: z
        .unknown()
        .meta({ type: ['string', 'null'] })
        .optional(),
      tool_calls: listOf(Call).nullish(),
      function_call: member.refusedMember('is not supported: send tool_calls'),
      name,
    }),
    z.object({ role: z.literal('tool'), tool_call_id: member.callId, content: Texts, name }),
  ],
  member.unionError('role', 'must be system, developer, user, assistant or tool'),
);

const Named = z.object({ name: member.toolName });
const OtherTool = z.object({ type: z.string() });

const TOOLS = {
  function: z.object({ type: z.literal('function'), function: FunctionTool }),
  custom: z.object({
    type: z.literal('custom'),
    custom: CustomTool.extend({ format: z.object({ grammar: Grammar.nullish() }).nullish() }).describe(
      'A tool whose input is a text. The model gets a function with the argument `input`.',
    ),
  }),
};
const Tool = variantOf(Object.values(TOOLS), (tool) => ofType(TOOLS, tool) ?? OtherTool);

const NAMED = {
  function: z.object({ type: z.literal('function'), function: Named }),
  custom: z.object({ type: z.literal('custom'), custom: Named }),
};
const AllowedTool = variantOf([OtherTool], (tool) => ofType(NAMED, tool) ?? OtherTool);

const Mode = z.enum(['auto', 'none', 'required']);
const CHOICES = {
  ...NAMED,
  allowed_tools: z.object({
    type: z.literal('allowed_tools'),
    allowed_tools: z.object({ mode: z.enum(['auto', 'required']).nullish(), tools: listOf(AllowedTool).min(1) }),
  }),
};
const OtherChoice = member.refusedType('must be function, custom or allowed_tools');
const NoChoice = member.refusal('must be auto, none, required or {"type":"function","function":{"name":…}}');
const ToolChoice = variantOf([Mode, ...Object.values(CHOICES)], (choice) => {
  if (typeof choice === 'string') return Mode;
  const chosen = ofType(CHOICES, choice);
  if (chosen === undefined) return member.has(choice, 'type') ? OtherChoice : NoChoice;
  return member.has(choice, chosen.shape.type.value) ? chosen : NoChoice;
});

const ResponseFormat = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text') }),
    z.object({ type: z.literal('json_object') }),
    z.object({
      type: z.literal('json_schema'),
      json_schema: z.object({
        name: z.string(),
        description: member.text,
        schema: member.schemaObject.nullish(),
        strict: member.flag,
      }),
    }),
  ],
  member.unionError('type', 'must be one of text, json_object, json_schema'),
);

const isTexts = (stop: unknown) => [stop].flat().every((one) => typeof one === 'string');
const WHOLE_CONVERSATION = 'is not supported, because the service stores no conversations: send all messages';

/** The members of `POST /chat/completions` that the service uses or refuses. The response names all other members. */
export const ChatCompletionsBody = z.object({
  n: member.refusedMember('must be 1: the service generates one answer for each request', member.is(1)),
  logprobs: member.refusedMember('is not supported', member.is(false)),
  top_logprobs: member.refusedMember('is not supported', member.is(0)),
  logit_bias: member.refusedMember('is not supported', (bias) => isObject(bias) && Object.keys(bias).length === 0),
  audio: member.refusedMember('is not supported'),
  modalities: member.refusedMember(
    'must be ["text"]',
    (names) => Array.isArray(names) && names.every(member.is('text')),
  ),
  web_search_options: member.refusedMember('is not supported'),
  // Older clients send an empty list, and a choice among no functions.
  functions: member.refusedMember('is not supported: send tools', member.isEmptyList),
  function_call: member.refusedMember(
    'is not supported: send tool_choice',
    (call) => call === 'none' || call === 'auto',
  ),
  previous_response_id: member.refusedMember(WHOLE_CONVERSATION),
  conversation: member.refusedMember(WHOLE_CONVERSATION),
  tools: listOf(Tool).nullish().describe('Functions. The service runs no tools of its own.'),
  reasoning_effort: member.effort,
  messages: listOf(Message, MAX_MESSAGES).min(1).describe('The whole conversation.'),
  tool_choice: ToolChoice.nullish(),
  max_completion_tokens: member.tokenLimit.describe('The maximum number of tokens of the answer.'),
  parallel_tool_calls: member.isParallel,
  model: member.MODEL,
  temperature: member.temperature,
  top_p: member.topP,
  seed: z.number().meta({ type: 'integer' }).nullish(),
  frequency_penalty: member.penalty('tokens by the number of their occurrences'),
  presence_penalty: member.penalty('tokens that have occurred'),
  stop: z
    .custom<string | readonly string[]>(isTexts, { error: 'must be a string or strings' })
    .meta({ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] })
    .nullish()
    .describe('Texts that end the answer.'),
  max_tokens: member.tokenLimit.describe('The former name of `max_completion_tokens`.'),
  response_format: ResponseFormat.nullish(),
  stream: member.isStream,
  stream_options: z
    .object({ include_usage: member.flag.describe('Whether the last chunk has the token counts.') })
    .nullish(),
});

export type ChatCompletionsBody = z.infer<typeof ChatCompletionsBody>;
export type Texts = z.infer<typeof Texts>;
export type UserContent = z.infer<typeof UserContent>;
export type MessageBody = z.infer<typeof Message>;
export type AssistantBody = Extract<MessageBody, { role: 'assistant' }>;
export type CallBody = z.infer<typeof Call>;
export type ToolBody = z.infer<typeof Tool>;
export type AllowedTool = z.infer<typeof AllowedTool>;
