import { z } from 'zod';
import * as member from '../../shared/common-members.js';
import { listOf } from '../../shared/list-of.js';
import { ofType, variantOf } from '../../shared/variant-of.js';
import { InputItem, SEND_ITEMS } from './item-schemas.js';
import { Tool, ToolChoice } from './tool-schemas.js';

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
