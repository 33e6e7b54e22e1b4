import type { GenerationOptions } from '../../platform/config/capabilities.js';

/**
 * Marks the end of a part of the prompt that the provider may cache. Anthropic calls it a cache breakpoint. Providers that cache by
 * themselves ignore the mark.
 */
export interface CacheHint {
  /** How long the provider keeps the part. By default 5 minutes. */
  readonly ttl?: '5m' | '1h' | undefined;
}

/** A text of a message. Not empty. */
export interface TextContent {
  readonly type: 'text';
  readonly text: string;
  readonly cache?: CacheHint | undefined;
}

export type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** An image of a message. The service never fetches an image. */
export interface ImageContent {
  readonly type: 'image';
  /** A data URL (`data:image/png;base64,…`), or an https URL that the provider fetches. */
  readonly url: string;
  /** Known for each data URL. `undefined`: the provider finds out. */
  readonly mediaType?: ImageMediaType | undefined;
  readonly detail?: 'auto' | 'low' | 'high' | undefined;
  readonly cache?: CacheHint | undefined;
}

/** Reasoning of an earlier answer, as the client sends it back. */
export interface ReasoningContent {
  readonly type: 'reasoning';
  /** May be empty, if the provider showed only the signature or an encrypted form. */
  readonly text: string;
  /** The proof of the provider that the text is its own. Opaque, and valid for the provider that has made it only. */
  readonly signature?: string | undefined;
  /** The reasoning in a form that only the provider can read. Opaque. */
  readonly encrypted?: string | undefined;
}

/** A call of a tool in an earlier answer. */
export interface ToolCallContent {
  readonly type: 'tool_call';
  /** Refers to the call in the result. Unique in its message. A result refers to the latest call before it with this id. */
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text, an object. */
  readonly json: string;
  /** See {@link ReasoningContent.signature}. */
  readonly signature?: string | undefined;
}

/** The result of one tool call. */
export interface ToolResult {
  readonly toolCallId: string;
  readonly content: string | readonly (TextContent | ImageContent)[];
  /** Whether the tool has failed. The content then has the reason. */
  readonly isError?: boolean | undefined;
  readonly cache?: CacheHint | undefined;
}

export interface SystemMessage {
  readonly role: 'system';
  readonly content: string | readonly TextContent[];
}

export interface UserMessage {
  readonly role: 'user';
  readonly content: string | readonly (TextContent | ImageContent)[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string | readonly (TextContent | ReasoningContent | ToolCallContent)[];
}

/** Results of tools that an earlier message has called. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly content: readonly ToolResult[];
}

/**
 * One message of a conversation. A content of one plain text is a string.
 *
 * @since 1.0
 */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/**
 * A tool that the model may call. The service passes the schema on and does not interpret it.
 *
 * @since 1.0
 */
export interface Tool {
  /** 1 to 128 of `A-Z`, `a-z`, `0-9`, `_` and `-`. */
  readonly name: string;
  readonly description?: string | undefined;
  /** The JSON Schema of the arguments, an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether the arguments must fit the schema exactly. */
  readonly strict?: boolean | undefined;
  readonly cache?: CacheHint | undefined;
}

/** Whether the model calls a tool. `required`: at least one. `tool`: this one. By default `auto`. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string };

/** The format of the answer's text. By default `text`. */
export type ResponseFormat =
  | { readonly type: 'text' }
  /** Any JSON object. */
  | { readonly type: 'json' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly description?: string | undefined;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly strict?: boolean | undefined;
    };

export interface ReasoningOptions {
  /** How much the model reasons. `none`: not at all. */
  readonly effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | undefined;
  /** The maximum number of tokens of the reasoning. */
  readonly budget_tokens?: number | undefined;
  /** Whether the answer contains the text of the reasoning, as far as the provider shows it. */
  readonly include_text?: boolean | undefined;
}

/**
 * A request for a completion of a conversation. The body of `POST /chat/stream` is a conversation with plain texts only.
 *
 * @since 1.0
 */
export interface ConversationRequest extends GenerationOptions {
  /** A model id of the catalog. */
  readonly model: string;
  /** At least one. */
  readonly messages: readonly Message[];
  /** The maximum number of tokens of the answer. */
  readonly max_tokens?: number | undefined;
  /** At most 128, each with another name. */
  readonly tools?: readonly Tool[] | undefined;
  readonly tool_choice?: ToolChoice | undefined;
  /** Whether one answer may call several tools. By default, the provider decides. */
  readonly parallel_tool_calls?: boolean | undefined;
  readonly response_format?: ResponseFormat | undefined;
  readonly reasoning?: ReasoningOptions | undefined;
  /** An opaque id of the person for whom the request is made. Passed on to providers that take one. */
  readonly user?: string | undefined;
}

type Content = string | readonly (TextContent | ImageContent)[];

/** Yields the texts of a message that a provider reads, in order: also reasoning, the arguments of tool calls, and results. */
export function* textsOf(message: Message): Generator<string, void> {
  if (typeof message.content === 'string') {
    yield message.content;
    return;
  }
  for (const part of message.content) {
    if ('toolCallId' in part) yield* textsOfContent(part.content);
    else if (part.type === 'tool_call') yield part.json;
    else if (part.type !== 'image') yield part.text;
  }
}

function* textsOfContent(content: Content): Generator<string, void> {
  if (typeof content === 'string') yield content;
  else for (const part of content) if (part.type === 'text') yield part.text;
}

/** Yields the images of a message, in order: those of the user, and those of results. */
export function* imagesOf({ content }: Message): Generator<ImageContent, void> {
  if (typeof content === 'string') return;
  for (const part of content) {
    if ('toolCallId' in part) yield* imagesOfContent(part.content);
    else if (part.type === 'image') yield part;
  }
}

function* imagesOfContent(content: Content): Generator<ImageContent, void> {
  if (typeof content !== 'string') for (const part of content) if (part.type === 'image') yield part;
}
