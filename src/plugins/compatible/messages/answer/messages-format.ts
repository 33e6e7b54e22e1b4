import { type Completion, EVENT_STREAM_TYPE, sseEvent, type StreamFormat } from '../../../../plugin-api/core/chat.js';
import type { ServiceError } from '../../../../plugin-api/core/common.js';
import {
  argumentsObject,
  type FinishReason,
  type TokenUsage,
  type CompletionPart,
  type FinishPart,
  promptTokensNow,
} from '../../../../plugin-api/core/upstreams.js';
import { placedField, anthropicError } from '../../shared/error-formats.js';
import type { AnswerFacts, AnswerFormat } from '../../shared/compatible-answers.js';
import { MESSAGES_NAMES, type ShownThinking, type MessagesRequest } from '../body/messages-request.js';
import { emptyText, emptyThinking, emptyToolUse, redactedThinking, AnswerBlocks } from './answer-blocks.js';

/** Returns the members of a message that are known when it begins. */
function messageStart(id: string, model: string, usage: MessageUsage) {
  return {
    id: `msg_${id}`,
    type: 'message' as const,
    role: 'assistant' as const,
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage,
  };
}

type MessageUsage = ReturnType<typeof messageUsage>;

/** Returns the token counts of a message. */
function messageUsage(usage: TokenUsage) {
  return {
    ...endUsage(usage),
    cache_creation: null,
    service_tier: null,
    inference_geo: null,
    speed: null,
  };
}

/**
 * Returns the token counts that the end of a stream has. Anthropic counts cached tokens apart from the other tokens of the
 * prompt. Counts that the format requires are 0 if they are unknown.
 */
function endUsage(usage: TokenUsage) {
  const { inputTokens = 0, cachedInputTokens, cacheWriteInputTokens, outputTokens = 0, reasoningOutputTokens } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - (cachedInputTokens ?? 0) - (cacheWriteInputTokens ?? 0)),
    cache_creation_input_tokens: cacheWriteInputTokens ?? null,
    cache_read_input_tokens: cachedInputTokens ?? null,
    output_tokens: outputTokens,
    output_tokens_details: reasoningOutputTokens === undefined ? null : { thinking_tokens: reasoningOutputTokens },
    server_tool_use: null,
  };
}

interface AnswerEnd {
  readonly reason: FinishReason;
  /** The provider's own word. */
  readonly raw: string | undefined;
  readonly hasToolCalls: boolean;
}

/**
 * Returns how an answer has ended. Providers do not say which stop sequence it was, so it is known only if there is one.
 *
 * @param stop the stop sequences of the request.
 */
function messageEnd({ reason, raw, hasToolCalls }: AnswerEnd, stop: readonly string[] = []) {
  const isStopSequence = raw === 'stop_sequence';
  // Some providers give no reason.
  const known = hasToolCalls && reason === 'other' ? 'tool_calls' : reason;
  return {
    stop_reason: isStopSequence ? 'stop_sequence' : STOP_REASONS[known],
    stop_sequence: isStopSequence && stop.length === 1 ? (stop[0] ?? null) : null,
    stop_details: null,
    container: null,
  };
}

const STOP_REASONS = {
  stop: 'end_turn',
  other: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
} as const satisfies Record<FinishReason, string>;

/** Returns the blocks of a complete answer. */
function messageContent({ content }: Completion, thinking: ShownThinking): object[] {
  return content.flatMap((part): object[] => {
    switch (part.type) {
      case 'text':
        return [{ ...emptyText(), text: part.text }];
      case 'tool_call':
        return [{ ...emptyToolUse(part.id, part.name, part.signature), input: argumentsObject(part.json) }];
      case 'reasoning': {
        if (thinking === 'none') return [];
        const { signature = '', encrypted } = part;
        const text = thinking === 'shown' ? part.text : '';
        return [
          ...(text === '' && signature === '' ? [] : [{ ...emptyThinking(), thinking: text, signature }]),
          ...(encrypted === undefined ? [] : [redactedThinking(encrypted)]),
        ];
      }
    }
  });
}

const PING = sseEvent({ type: 'ping' }, 'ping');

/** Writes the answer to a request in the format of Messages. */
export function messagesFormat(request: MessagesRequest, requestId: string): AnswerFormat {
  return {
    bodyField: (field) => placedField(field, request.mapped, MESSAGES_NAMES),
    stream: (facts) => new MessagesEvents(facts, request, requestId),
    whole: (completion, facts) => wholeMessage(completion, facts, request),
  };
}

function wholeMessage(completion: Completion, facts: AnswerFacts, { thinking, conversation }: MessagesRequest): object {
  const { finishReason: reason, rawFinishReason: raw, toolCalls } = completion;
  return {
    ...messageStart(facts.id, facts.model, messageUsage(facts.usage())),
    content: messageContent(completion, thinking),
    ...messageEnd({ reason, raw, hasToolCalls: toolCalls.length > 0 }, conversation.stop),
  };
}

/** Writes an answer as events. An object is for one response. */
class MessagesEvents implements StreamFormat {
  readonly contentType = EVENT_STREAM_TYPE;
  private readonly blocks: AnswerBlocks;
  private usage: TokenUsage = {};
  private finish: FinishPart | undefined;
  private hasToolCalls = false;
  private isStarted = false;

  constructor(
    private readonly facts: AnswerFacts,
    private readonly request: MessagesRequest,
    private readonly requestId: string,
  ) {
    this.blocks = new AnswerBlocks(request.thinking);
  }

  part(part: CompletionPart): string | undefined {
    if (part.type === 'usage') this.usage = { ...this.usage, ...part.usage };
    if (part.type === 'finish') this.finish = part;
    if (part.type === 'tool_call_start') this.hasToolCalls = true;
    const events = this.blocks.add(part);
    return events.length === 0 ? undefined : this.start() + eventsText(events);
  }

  keepAlive(): string {
    return PING;
  }

  end(): string {
    const { reason = 'other', raw } = this.finish ?? {};
    const end = {
      type: 'message_delta',
      delta: messageEnd({ reason, raw, hasToolCalls: this.hasToolCalls }, this.request.conversation.stop),
      usage: endUsage(this.facts.usage()),
    };
    return this.start() + eventsText([...this.blocks.end(), end, { type: 'message_stop' }]);
  }

  error(error: ServiceError): string {
    return sseEvent(anthropicError(error, this.requestId), 'error');
  }

  /** Returns the first event, once. */
  private start(): string {
    if (this.isStarted) return '';
    this.isStarted = true;
    const { id, model } = this.facts;
    // The first event needs a count. Most providers report it at the end.
    const inputTokens = this.usage.inputTokens ?? promptTokensNow(this.request.conversation).estimated;
    const usage = messageUsage({ ...this.usage, inputTokens, outputTokens: 0 });
    return sseEvent({ type: 'message_start', message: messageStart(id, model, usage) }, 'message_start');
  }
}

/** The name of an event is also the type of its data. */
function eventsText(events: readonly { readonly type: string }[]): string {
  return events.map((event) => sseEvent(event, event.type)).join('');
}
