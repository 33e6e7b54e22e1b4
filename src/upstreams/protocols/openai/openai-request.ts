import type {
  AssistantMessage,
  ImageContent,
  Message,
  TextContent,
  ToolMessage,
  ReasoningOptions,
  ResponseFormat,
  ToolChoice,
} from '../../contract/conversation.js';
import { isPlain, textsForJson } from '../shared/provider-messages.js';
import { asArrived } from '../../../platform/common/json/json-source.js';
import type { ChatCall } from '../../contract/protocol.js';

/** What is known of the provider of a model, besides its interface. */
interface ProviderHabits {
  /** The member in which the model has sent reasoning without a signature. `undefined`: it takes none back. */
  readonly reasoningMember?: string | undefined;
  /** The signature of a call that has none. `undefined`: the provider requires no signatures. */
  readonly missingSignature?: string | undefined;
}

/**
 * Whether the state of a provider is a member of its answer: an object is `extra_content`, and a list is `reasoning_details`. Other states are
 * the signature of Gemini, or the name of the member with the reasoning.
 */
export function isJsonState(state: string): boolean {
  return state.startsWith('{') || state.startsWith('[');
}

/**
 * Returns the messages in the form of OpenAI. A content of texts only is one string, because many servers with this interface take
 * no list. Plain messages stay as they are.
 *
 */
export function openAiMessages(messages: readonly Message[], habits: ProviderHabits): readonly object[] {
  if (messages.every(isPlain)) return messages;
  return messages.flatMap((message) => {
    if (isPlain(message)) return [message];
    switch (message.role) {
      case 'system':
        return [{ role: 'system', content: textsForJson(message.content) }];
      case 'user':
        return [{ role: 'user', content: userContent(message.content) }];
      case 'assistant':
        return assistantMessages(message, habits);
      case 'tool':
        return toolMessages(message);
    }
  });
}

function userContent(content: string | readonly (TextContent | ImageContent)[]): string | object {
  if (typeof content === 'string') return content;
  return content.some(({ type }) => type === 'image') ? content.map(userPart) : textsForJson(content);
}

function userPart(part: TextContent | ImageContent): object {
  if (part.type === 'text') return { type: 'text', text: part.text };
  return { type: 'image_url', image_url: { url: part.url, detail: part.detail } };
}

/** Returns no message if nothing is left, for example of reasoning of another provider. */
function assistantMessages({ content }: AssistantMessage, habits: ProviderHabits): readonly object[] {
  if (typeof content === 'string') return [{ role: 'assistant', content }];
  const text = textsForJson(content);
  const calls = content.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
  if (text === '' && calls.length === 0) return [];
  const toolCalls = calls.map(({ id, name, json, signature }, index) => ({
    id,
    type: 'function',
    function: { name, arguments: json },
    ...extraContent(signature ?? (index === 0 ? habits.missingSignature : undefined)),
  }));
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...reasoningMembers(content, habits),
      tool_calls: toolCalls.length === 0 ? undefined : toolCalls,
    },
  ];
}

/** Returns reasoning in the member, and in the form, in which the provider has sent it. */
function reasoningMembers(content: Exclude<AssistantMessage['content'], string>, { reasoningMember }: ProviderHabits) {
  const members: Record<string, unknown> = {};
  const details: unknown[] = [];
  for (const part of content) {
    if (part.type !== 'reasoning') continue;
    const { text, signature } = part;
    if (signature !== undefined && isJsonState(signature)) {
      const state = JSON.parse(signature) as unknown;
      if (Array.isArray(state)) details.push(...(state as readonly unknown[]));
      else members.extra_content = state;
    } else {
      const member = signature ?? reasoningMember;
      if (member !== undefined && text !== '')
        members[member] = `${(members[member] as string | undefined) ?? ''}${text}`;
    }
  }
  return { ...members, ...(details.length > 0 && { reasoning_details: details }) };
}

/** Returns the member for the signature of a call, such as of Gemini's interface of this form, which requires its signatures back. */
function extraContent(signature: string | undefined): object | undefined {
  if (signature === undefined) return undefined;
  const google = { google: { thought_signature: signature } };
  return { extra_content: isJsonState(signature) ? (JSON.parse(signature) as unknown) : google };
}

/** Results of tools hold only texts in this interface, so the images follow in a message of the user. */
function toolMessages({ content: results }: ToolMessage): readonly object[] {
  const images: object[] = [];
  const messages: object[] = results.map(({ toolCallId, content }) => {
    if (typeof content === 'string') return { role: 'tool', tool_call_id: toolCallId, content };
    const ofResult = content.filter(({ type }) => type === 'image');
    if (ofResult.length > 0) {
      images.push({ type: 'text', text: `Images of the result of ${toolCallId}:` }, ...ofResult.map(userPart));
    }
    return { role: 'tool', tool_call_id: toolCallId, content: textsForJson(content) };
  });
  return images.length === 0 ? messages : [...messages, { role: 'user', content: images }];
}

/** Reasoning with at most this many tokens corresponds to the effort. OpenAI has no budget of tokens. */
const LOW_BUDGET = 2_048;
const MEDIUM_BUDGET = 8_192;

type Members = Pick<ChatCall, 'tools' | 'toolChoice' | 'parallelToolCalls' | 'responseFormat' | 'reasoning' | 'user'>;

/** Returns the members of a request for tools, a response format and reasoning. Members that are not needed are `undefined`. */
export function conversationMembers(call: Members): Readonly<Record<string, unknown>> {
  const { tools, toolChoice, parallelToolCalls, responseFormat, reasoning, user } = call;
  const offersTools = tools !== undefined;
  return {
    tools: tools?.map(({ name, description, parameters, strict }) => ({
      type: 'function',
      function: { name, description, parameters: asArrived(parameters), strict },
    })),
    tool_choice: offersTools && toolChoice !== undefined ? choice(toolChoice) : undefined,
    parallel_tool_calls: offersTools ? parallelToolCalls : undefined,
    response_format: responseFormat && format(responseFormat),
    reasoning_effort: reasoning && effortOf(reasoning),
    user,
  };
}

function choice(toolChoice: ToolChoice): string | object {
  return typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.tool } };
}

function format(responseFormat: ResponseFormat): object | undefined {
  switch (responseFormat.type) {
    case 'text':
      return undefined;
    case 'json':
      return { type: 'json_object' };
    case 'json_schema': {
      const { name, description, schema, strict } = responseFormat;
      return { type: 'json_schema', json_schema: { name, description, schema: asArrived(schema), strict } };
    }
  }
}

/** Returns the effort. OpenAI has no budget of tokens, so a budget becomes an effort. */
export function effortOf({ effort: given, budget_tokens: budget }: ReasoningOptions): ReasoningOptions['effort'] {
  if (given !== undefined || budget === undefined) return given;
  if (budget <= LOW_BUDGET) return 'low';
  return budget <= MEDIUM_BUDGET ? 'medium' : 'high';
}
