import { argumentsObject, type FinishReason, type TokenUsage } from '../../../../plugin-api/core/upstreams.js';
import type { Completion } from '../../../../plugin-api/core/chat.js';
import type { ShownThinking } from '../body/messages-request.js';
import { emptyText, emptyThinking, emptyToolUse, redactedThinking } from './answer-block.js';

/** Returns the members of a message that are known when it begins. */
export function messageStart(id: string, model: string, usage: MessageUsage) {
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
export function messageUsage(usage: TokenUsage) {
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
export function endUsage(usage: TokenUsage) {
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
export function messageEnd({ reason, raw, hasToolCalls }: AnswerEnd, stop: readonly string[] = []) {
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
export function messageContent({ content }: Completion, thinking: ShownThinking): object[] {
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
