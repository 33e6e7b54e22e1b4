import { z } from 'zod';

/**
 * The part of Open Responses, version 2026-04-24, that the service sends. Objects are strict, so that a member with a wrong name
 * is found.
 */
const Status = z.enum(['in_progress', 'completed', 'incomplete']);
const index = z.int().min(0);

const OutputText = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.never()),
  logprobs: z.array(z.never()),
});
const ReasoningText = z.strictObject({ type: z.literal('reasoning_text'), text: z.string() });
const SummaryText = z.strictObject({ type: z.literal('summary_text'), text: z.string() });

const Item = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('message'),
    id: z.string().regex(/^msg_\w+$/),
    status: Status,
    role: z.literal('assistant'),
    content: z.array(OutputText),
  }),
  z.strictObject({
    type: z.literal('function_call'),
    id: z.string().regex(/^fc_\w+$/),
    call_id: z.string().min(1),
    name: z.string().min(1),
    arguments: z.string(),
    status: Status,
  }),
  z.strictObject({
    type: z.literal('reasoning'),
    id: z.string().regex(/^rs_\w+$/),
    // Required by the text of the specification, for every item.
    status: Status,
    content: z.array(ReasoningText).optional(),
    summary: z.array(SummaryText),
    encrypted_content: z.string().optional(),
  }),
]);

const Format = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({
    type: z.literal('json_schema'),
    name: z.string(),
    description: z.string().nullable(),
    schema: z.record(z.string(), z.unknown()),
    strict: z.boolean(),
  }),
]);
const Mode = z.enum(['auto', 'none', 'required']);
const NamedTool = z.strictObject({ type: z.literal('function'), name: z.string() });

/** A response, with all its members. */
export const ResponseResource = z.strictObject({
  id: z.string().regex(/^resp_\w+$/),
  object: z.literal('response'),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  incomplete_details: z.strictObject({ reason: z.string() }).nullable(),
  model: z.string(),
  previous_response_id: z.null(),
  instructions: z.string().nullable(),
  output: z.array(Item),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(
    z.strictObject({
      type: z.literal('function'),
      name: z.string(),
      description: z.string().nullable(),
      parameters: z.record(z.string(), z.unknown()).nullable(),
      strict: z.boolean().nullable(),
    }),
  ),
  tool_choice: z.union([
    Mode,
    NamedTool,
    z.strictObject({ type: z.literal('allowed_tools'), tools: z.array(NamedTool), mode: Mode }),
  ]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.strictObject({ format: Format }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: z.strictObject({
    effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullable(),
    summary: z.enum(['auto', 'concise', 'detailed']).nullable(),
  }),
  usage: z
    .strictObject({
      input_tokens: z.int(),
      input_tokens_details: z.strictObject({ cached_tokens: z.int() }),
      output_tokens: z.int(),
      output_tokens_details: z.strictObject({ reasoning_tokens: z.int() }),
      total_tokens: z.int(),
    })
    .nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.null(),
  store: z.literal(false),
  background: z.literal(false),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  safety_identifier: z.null(),
  prompt_cache_key: z.null(),
});
export type ResponseResource = z.infer<typeof ResponseResource>;

const numbered = { sequence_number: index };
const ofItem = { ...numbered, item_id: z.string(), output_index: index };
const ofContent = { ...ofItem, content_index: index };
const ofSummary = { ...ofItem, summary_index: index };

const state = <Type extends string>(type: Type) =>
  z.strictObject({ type: z.literal(type), ...numbered, response: ResponseResource });
const item = <Type extends string>(type: Type) =>
  z.strictObject({ type: z.literal(type), ...numbered, output_index: index, item: Item });

/** An event of a stream. */
export const ResponseStreamEvent = z.discriminatedUnion('type', [
  state('response.created'),
  state('response.in_progress'),
  state('response.completed'),
  state('response.incomplete'),
  state('response.failed'),
  z.strictObject({
    type: z.literal('error'),
    ...numbered,
    error: z.strictObject({
      ...{ type: z.string(), code: z.string(), message: z.string() },
      param: z.string().nullable(),
    }),
  }),
  item('response.output_item.added'),
  item('response.output_item.done'),
  ...(['response.content_part.added', 'response.content_part.done'] as const).map((type) =>
    z.strictObject({
      type: z.literal(type),
      ...ofContent,
      part: z.discriminatedUnion('type', [OutputText, ReasoningText]),
    }),
  ),
  z.strictObject({
    type: z.literal('response.output_text.delta'),
    ...ofContent,
    delta: z.string().min(1),
    logprobs: z.array(z.never()),
  }),
  z.strictObject({
    type: z.literal('response.output_text.done'),
    ...ofContent,
    text: z.string(),
    logprobs: z.array(z.never()),
  }),
  z.strictObject({ type: z.literal('response.reasoning_text.delta'), ...ofContent, delta: z.string().min(1) }),
  z.strictObject({ type: z.literal('response.reasoning_text.done'), ...ofContent, text: z.string() }),
  ...(['response.reasoning_summary_part.added', 'response.reasoning_summary_part.done'] as const).map((type) =>
    z.strictObject({ type: z.literal(type), ...ofSummary, part: SummaryText }),
  ),
  z.strictObject({ type: z.literal('response.reasoning_summary_text.delta'), ...ofSummary, delta: z.string().min(1) }),
  z.strictObject({ type: z.literal('response.reasoning_summary_text.done'), ...ofSummary, text: z.string() }),
  z.strictObject({ type: z.literal('response.function_call_arguments.delta'), ...ofItem, delta: z.string().min(1) }),
  z.strictObject({
    type: z.literal('response.function_call_arguments.done'),
    ...ofItem,
    name: z.string(),
    arguments: z.string(),
  }),
]);
export type ResponseStreamEvent = z.infer<typeof ResponseStreamEvent>;

const LAST_TYPES = ['response.completed', 'response.incomplete', 'response.failed'];

/** Checks a complete stream: the schema of each event, its number, and its place. Returns the response of the last event. */
export function checkEvents(events: readonly unknown[]): ResponseResource {
  const valid = events.map((event) => ResponseStreamEvent.parse(event));
  const problems = valid.flatMap(({ type, sequence_number: number }, place) => [
    ...(number === place ? [] : [`${type} has the number ${number} at the place ${place}`]),
    ...((type === 'response.created') === (place === 0) ? [] : [`${type} is at the place ${place}`]),
    ...(LAST_TYPES.includes(type) === (place === valid.length - 1) ? [] : [`${type} is at the place ${place}`]),
  ]);
  if (problems.length > 0) throw new Error(problems.join(', '));
  const last = valid.at(-1);
  if (last === undefined || !('response' in last)) throw new Error('The stream is empty.');
  return last.response;
}

/** Returns the events of a body, and checks what is between them. */
export function eventsOf(body: string): object[] {
  const blocks = body
    .split('\n\n')
    .filter((block) => block !== '' && block !== ': keep-alive' && block !== 'data: [DONE]');
  const events = blocks.map((block) => {
    const [name, data, ...rest] = block.split('\n');
    const event = JSON.parse(data?.replace(/^data: /, '') ?? '') as { readonly type: string };
    if (name !== `event: ${event.type}` || rest.length > 0) throw new Error(`The block is no event: ${block}`);
    return event;
  });
  const isFailed = blocks.at(-1)?.startsWith('event: response.failed') === true;
  if (body.endsWith('data: [DONE]\n\n') === isFailed) throw new Error('The marker of the end is wrong.');
  return events;
}

/** Fetches for an SDK, and keeps what is wrong with the responses of `POST /responses`. */
export class CheckedFetch {
  private readonly checks: Promise<void>[] = [];
  readonly requests: { readonly body: Record<string, unknown>; readonly headers: Headers }[] = [];
  readonly bodies: string[] = [];

  readonly fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    this.requests.push({
      body: JSON.parse(init?.body as string) as Record<string, unknown>,
      headers: new Headers(init?.headers),
    });
    const response = await fetch(url, init);
    if (response.ok) this.checks.push(this.check(response.clone()));
    return response;
  };

  /** Throws if a response since the last call was invalid. Aborted responses are not checked. */
  async allValid(): Promise<void> {
    await Promise.all(this.checks.splice(0));
  }

  private async check(response: Response): Promise<void> {
    const isStream = response.headers.get('content-type') === 'text/event-stream; charset=utf-8';
    const body = await response.text().catch(() => undefined);
    if (body === undefined) return;
    this.bodies.push(body);
    if (isStream) checkEvents(eventsOf(body));
    else ResponseResource.parse(JSON.parse(body));
  }
}
