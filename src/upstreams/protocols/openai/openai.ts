import { z } from 'zod';
import type { UpstreamConfig } from '../../../platform/config/config.js';
import type { ChatCall, AnswerReader, HttpProtocol, UpstreamRequest, ProviderEvent } from '../../contract/protocol.js';
import type { StreamPart } from '../../contract/stream-part.js';
import { endpoint, streamHeaders } from '../shared/endpoint.js';
import { endMarkerParts, errorEventParts, unreadableEventParts, RepeatedEvent } from '../shared/event-parts.js';
import { parseJsonObject } from '../shared/json-object.js';
import { JsonRequestProtocol, optionMembers, SAME_OPTION_NAMES } from '../shared/json-request.js';
import { systemMessagesAt } from '../shared/provider-messages.js';
import { openAiChunkParts, type ChunkState, ReasoningDetails } from './openai-chunk.js';
import { isJsonState, openAiMessages, conversationMembers } from './openai-request.js';
import { OpenAiToolCalls } from './openai-tool-calls.js';

const END_MARKER = '[DONE]';

const Options = z.strictObject({
  /** `anywhere`: the provider takes system messages after other messages. Otherwise they are sent as marked texts of the user. */
  system_messages: z.enum(['first', 'anywhere']).default('first'),
  /** The signature of a call without one, for a provider that requires signatures: `extra_content.google.thought_signature`. */
  missing_signature: z.string().min(1).optional(),
});
type OpenAiOptions = z.infer<typeof Options>;

/**
 * Implements the chat completions interface of OpenAI. Most providers and local servers support this interface: OpenAI,
 * Azure, OpenRouter, Groq, Mistral, DeepSeek, xAI, vLLM, llama.cpp, Ollama. The code detects differences between them from
 * the received data, not from the name of the provider.
 *
 * @since 1.0
 */
export class OpenAiProtocol extends JsonRequestProtocol implements HttpProtocol {
  readonly transport = 'http';
  readonly name = 'openai';
  readonly options = Options;
  readonly generationOptions = SAME_OPTION_NAMES;
  readonly capabilities = ['images', 'tools', 'structured_output', 'reasoning'] as const;

  /** A signature that is the name of a member says only where reasoning belongs. */
  isBoundToUpstream(state: string): boolean {
    return isJsonState(state);
  }

  protected override target(_: ChatCall, upstream: UpstreamConfig): Omit<UpstreamRequest, 'body'> {
    const authorization = upstream.apiKey === undefined ? {} : { authorization: `Bearer ${upstream.apiKey}` };
    return { url: endpoint(upstream, '/chat/completions'), headers: streamHeaders(authorization, upstream) };
  }

  protected override json(call: ChatCall, upstream: UpstreamConfig): object {
    const { system_messages: place = 'first', missing_signature: missingSignature } = optionsOf(upstream);
    return {
      model: call.model,
      messages: openAiMessages(systemMessagesAt(place, call.messages), {
        reasoningMember: knownReasoningMember(upstream, call.model),
        missingSignature,
      }),
      stream: true,
      ...optionMembers(call.options, this.generationOptions),
      [upstream.maxTokensField]: call.maxTokens,
      ...conversationMembers(call),
      stream_options: upstream.includeUsage ? { include_usage: true } : undefined,
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

/** A protocol of a plugin may pass on its own upstream, which has options of its own. */
function optionsOf({ options }: UpstreamConfig): Partial<OpenAiOptions> {
  return options ?? {};
}

class OpenAiReader implements AnswerReader {
  private readonly repeated = new RepeatedEvent();
  private readonly state: ChunkState = {
    calls: new OpenAiToolCalls(),
    details: new ReasoningDetails(),
    reasoningMember: undefined,
    hasDeltaText: false,
    hasFinishReason: false,
  };

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
    return data.trimStart().startsWith(END_MARKER)
      ? endMarkerParts(this.state.hasFinishReason)
      : unreadableEventParts(data);
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
