import type { UpstreamConfig } from '../../../config/config.js';
import type { ChatCall } from '../../contract/chat-call.js';
import type { ProviderEvent } from '../../contract/framing.js';
import type { AnswerReader, HttpProtocol, UpstreamRequest } from '../../contract/protocol.js';
import type { StreamPart } from '../../contract/stream-part.js';
import { endpoint, streamHeaders } from '../shared/endpoint.js';
import { errorEventParts, unreadableEventParts, END, NOTHING } from '../shared/event-parts.js';
import { parseJsonObject } from '../shared/json-object.js';
import { optionMembers, SAME_OPTION_NAMES } from '../shared/option-members.js';
import { RepeatedEvent } from '../shared/repeated-event.js';
import { openAiChunkParts, type ChunkState } from './openai-chunk.js';
import { openAiMessages } from './openai-messages.js';
import { OpenAiToolCalls } from './openai-tool-calls.js';
import { conversationMembers } from './openai-tools.js';

const END_MARKER = '[DONE]';

/**
 * Implements the chat completions interface of OpenAI. Most providers and local servers support this interface: OpenAI,
 * Azure, OpenRouter, Groq, Mistral, DeepSeek, xAI, vLLM, llama.cpp, Ollama. The code detects differences between them from
 * the received data, not from the name of the provider.
 *
 * @since 1.0
 */
export class OpenAiProtocol implements HttpProtocol {
  readonly transport = 'http';
  readonly name = 'openai';
  readonly generationOptions = SAME_OPTION_NAMES;
  readonly capabilities = ['images', 'tools', 'structured_output', 'reasoning'] as const;

  request(call: ChatCall, upstream: UpstreamConfig): UpstreamRequest {
    const authorization = upstream.apiKey === undefined ? {} : { authorization: `Bearer ${upstream.apiKey}` };
    return {
      url: endpoint(upstream, '/chat/completions'),
      headers: streamHeaders(authorization, upstream),
      body: JSON.stringify({
        model: call.model,
        messages: openAiMessages(call.messages, knownReasoningMember(upstream, call.model)),
        stream: true,
        ...optionMembers(call.options, this.generationOptions),
        [upstream.maxTokensField]: call.maxTokens,
        ...conversationMembers(call),
        stream_options: upstream.includeUsage ? { include_usage: true } : undefined,
      }),
    };
  }

  /** Without parameters, the reader does not record how the model sends its reasoning. It must not hold the call with the prompt. */
  open(call?: Pick<ChatCall, 'model'>, upstream?: UpstreamConfig): AnswerReader {
    const model = call?.model;
    return new OpenAiReader((member) => {
      if (model !== undefined && upstream !== undefined) recordReasoningMember(upstream, model, member);
    });
  }
}

class OpenAiReader implements AnswerReader {
  private readonly repeated = new RepeatedEvent();
  private readonly state: ChunkState = { calls: new OpenAiToolCalls(), reasoningMember: undefined };

  /** @param onReasoning called with the name of the member of each piece of reasoning. */
  constructor(private readonly onReasoning: (member: string) => void) {}

  parts({ event, data }: ProviderEvent): readonly StreamPart[] {
    const repeated =
      event === 'message' && this.state.reasoningMember === undefined ? this.repeated.textOf(data) : undefined;
    if (repeated !== undefined) return [{ type: 'text', text: repeated }];
    const chunk = parseJsonObject(data);
    if (event === 'error') return errorEventParts(data, chunk);
    if (chunk !== undefined) {
      const parts = openAiChunkParts(chunk, this.state);
      if (this.state.reasoningMember !== undefined) this.onReasoning(this.state.reasoningMember);
      this.repeated.record(data, parts);
      return parts;
    }
    const text = data.trim();
    if (text.startsWith(END_MARKER)) return END;
    // An event without data keeps the connection alive.
    return text === '' ? NOTHING : unreadableEventParts(data);
  }
}

/** The member that holds the reasoning, by upstream and by the provider's name of the model. */
const known = new WeakMap<UpstreamConfig, Map<string, string>>();

/** Records the member in which a model sends its reasoning. */
function recordReasoningMember(upstream: UpstreamConfig, model: string, member: string): void {
  const members = known.get(upstream) ?? new Map<string, string>();
  known.set(upstream, members);
  members.set(model, member);
}

/**
 * Returns the member in which a model has sent reasoning since the start of the process. Such a model takes the reasoning of
 * earlier turns in the same member, and some models require it.
 */
function knownReasoningMember(upstream: UpstreamConfig, model: string): string | undefined {
  return known.get(upstream)?.get(model);
}
