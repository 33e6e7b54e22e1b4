import { z } from 'zod';
import { schemaObject } from '../../shared/common-members.js';
import { listOf } from '../../shared/list-of.js';

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

export const Effort = z.enum(['low', 'medium', 'high', 'xhigh', 'max']);

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

const Thinking = z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().nullish() });

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
  [Text, Thinking, RedactedThinking, ToolUse],
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
