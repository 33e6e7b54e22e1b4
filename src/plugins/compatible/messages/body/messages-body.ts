import { z } from 'zod';
import { listOf } from '../../shared/checked-body.js';
import { schemaObject, isEmptyList, isStream, MODEL, refusedMember } from '../../shared/common-members.js';

/** Lists the kinds in the message about another kind, such as `document`. */
function oneOf(kinds: readonly string[]): { error: (issue: { readonly input?: unknown }) => string } {
  const list = new Intl.ListFormat('en-US', { type: 'disjunction' }).format(kinds);
  return {
    error: ({ input }) => {
      const kind = typeof input === 'object' && input !== null && 'type' in input ? input.type : undefined;
      return typeof kind === 'string' ? `${kind} is not supported: must be ${list}` : `must be ${list}`;
    },
  };
}

const Effort = z.enum(['low', 'medium', 'high', 'xhigh', 'max']);

const TEXT_OR_BLOCKS = { error: 'must be a string or an array' };

export const CacheControl = z.object({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).nullish() }).nullish();

/** A member of each response that says nothing. Clients send it back, so it is not named as ignored. */
const Echoed = z.unknown().optional();

const Text = z.object({ type: z.literal('text'), text: z.string(), cache_control: CacheControl, citations: Echoed });

const ImageSource = z.discriminatedUnion(
  'type',
  [
    z.object({
      type: z.literal('base64'),
      media_type: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
      data: z.string().min(1),
    }),
    z.object({ type: z.literal('url'), url: z.string().min(1) }),
  ],
  oneOf(['base64', 'url']),
);

const Image = z.object({ type: z.literal('image'), source: ImageSource, cache_control: CacheControl });

const ThinkingBlock = z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().nullish() });

const RedactedThinking = z.object({ type: z.literal('redacted_thinking'), data: z.string() });

const ToolUse = z.object({
  type: z.literal('tool_use'),
  id: z.string().min(1),
  name: z.string().min(1),
  input: schemaObject,
  caller: Echoed,
  /** Anthropic has no such member. A response contains it if the provider of the model signs its calls. */
  signature: z.string().min(1).nullish(),
});

/** The name of a tool that was deferred until now. */
const ToolReference = z.object({
  type: z.literal('tool_reference'),
  tool_name: z.string().min(1),
  cache_control: CacheControl,
});

const ToolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string().min(1),
  content: z
    .union(
      [
        z.string(),
        listOf(z.discriminatedUnion('type', [Text, Image, ToolReference], oneOf(['text', 'image', 'tool_reference']))),
      ],
      TEXT_OR_BLOCKS,
    )
    .nullish(),
  is_error: z.boolean().nullish(),
  cache_control: CacheControl,
});

const UserBlock = z.discriminatedUnion('type', [Text, Image, ToolResult], oneOf(['text', 'image', 'tool_result']));
const AssistantBlock = z.discriminatedUnion(
  'type',
  [Text, ThinkingBlock, RedactedThinking, ToolUse],
  oneOf(['text', 'thinking', 'redacted_thinking', 'tool_use']),
);

/** The system prompt: a text, or blocks of text. */
export const SystemContent = z.union(
  [z.string(), listOf(z.discriminatedUnion('type', [Text], oneOf(['text'])))],
  TEXT_OR_BLOCKS,
);

export const MessageBody = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.literal('user'), content: z.union([z.string(), listOf(UserBlock)], TEXT_OR_BLOCKS) }),
    z.object({ role: z.literal('assistant'), content: z.union([z.string(), listOf(AssistantBlock)], TEXT_OR_BLOCKS) }),
    z.object({
      role: z.literal('system'),
      content: SystemContent.nullish(),
      clear_at: z.enum(['next_user_message', 'never']).nullish(),
      output_config: z.object({ effort: Effort.nullish() }).nullish(),
    }),
  ],
  { error: 'must be user, assistant or system' },
);

export type CacheControl = z.infer<typeof CacheControl>;
export type TextBlock = z.infer<typeof Text>;
export type ImageBlock = z.infer<typeof Image>;
export type ToolReferenceBlock = z.infer<typeof ToolReference>;
export type ToolResultBlock = z.infer<typeof ToolResult>;
export type UserBlock = z.infer<typeof UserBlock>;
export type AssistantBlock = z.infer<typeof AssistantBlock>;
export type SystemContent = z.infer<typeof SystemContent>;
export type MessageBody = z.infer<typeof MessageBody>;

/** A tool of Anthropic has another type than `custom`, and no schema. */
const ClientTool = z.custom<unknown>().superRefine((tool, context) => {
  const { type } = (tool ?? {}) as { readonly type?: unknown };
  if (type === undefined || type === null || type === 'custom') return;
  const name = typeof type === 'string' ? `the tool ${type} is not supported` : 'is not supported';
  context.addIssue({ code: 'custom', path: ['type'], message: `${name}: define a tool with an input_schema` });
});

const Tool = ClientTool.pipe(
  z.object({
    type: z.literal('custom').nullish(),
    name: z.string().min(1),
    description: z.string().nullish(),
    input_schema: schemaObject,
    strict: z.boolean().nullish(),
    defer_loading: z.boolean().nullish(),
    cache_control: CacheControl,
  }),
);

const OneCall = { disable_parallel_tool_use: z.boolean().nullish() };
const ToolChoice = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('auto'), ...OneCall }),
    z.object({ type: z.literal('any'), ...OneCall }),
    z.object({ type: z.literal('tool'), name: z.string().min(1), ...OneCall }),
    z.object({ type: z.literal('none') }),
  ],
  { error: 'must be auto, any, tool or none' },
);

/** Newer clients send other values than `summarized` and `omitted`. Only `omitted` has an effect. */
const Display = { display: z.unknown().optional() };
const Thinking = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('enabled'), budget_tokens: z.int().min(1), ...Display }),
    z.object({ type: z.literal('adaptive'), ...Display }),
    z.object({ type: z.literal('between_tools') }),
    z.object({ type: z.literal('disabled') }),
  ],
  { error: 'must be enabled, adaptive, between_tools or disabled' },
);

/**
 * A request that begins a thread has the whole conversation. The service stores no thread, so it refuses a request that continues one:
 * clients then begin a new thread with the whole conversation.
 */
const Thread = z
  .custom<unknown>((thread) => thread === null || (thread as { readonly type?: unknown }).type === 'create', {
    error: 'is not available, because the service stores no conversations: send the whole conversation in messages',
  })
  .transform(() => undefined)
  .optional();

const Format = z.object({ type: z.literal('json_schema'), schema: schemaObject }).nullish();

/** The members that count for the tokens of a prompt. */
const prompt = {
  model: MODEL.min(1),
  messages: listOf(MessageBody).min(1).describe('The whole conversation.'),
  system: SystemContent.nullish().describe('The system prompt.'),
  tools: listOf(Tool).nullish().describe('Tools with an `input_schema`. The service runs no tools of its own.'),
  mcp_servers: refusedMember(
    'is not supported: connect to MCP servers in the client, and send their tools in tools',
    isEmptyList,
  ),
  thread: Thread,
  container: refusedMember('is not supported: the service runs no code', isEmptyList),
};

/** The members of `POST messages/count_tokens` that the service uses. Other members change nothing. */
export const CountTokensBody = z.object(prompt);

/** The members of `POST messages` that the service uses or refuses. The response names all other members. */
export const MessagesBody = z.object({
  ...prompt,
  max_tokens: z.int().min(1).describe('The maximum number of tokens of the answer.'),
  stream: isStream,
  temperature: z
    .number()
    .nullish()
    .describe('The sampling temperature, from 0 to 2. The default is 0.7. With `top_p`, there is no default.'),
  top_p: z.number().nullish().describe('The probability mass of the tokens to sample from, from 0 to 1.'),
  stop_sequences: listOf(z.string()).nullish().describe('Texts that end the answer.'),
  tool_choice: ToolChoice.nullish(),
  thinking: Thinking.nullish(),
  output_config: z.object({ effort: Effort.nullish(), format: Format }).nullish(),
  output_format: Format.describe('The former name of `output_config.format`.'),
  metadata: z.object({ user_id: z.string().nullish().describe('Passed on to some providers.') }).nullish(),
});

export type CountTokensBody = z.infer<typeof CountTokensBody>;
export type MessagesBody = z.infer<typeof MessagesBody>;
export type ToolBody = z.infer<typeof Tool>;
