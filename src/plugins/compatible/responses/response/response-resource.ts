import type { AnswerUsage, AnswerFacts } from '../../shared/compatible-answers.js';

/** The members of a response that repeat the request, or the defaults of the format. */
export interface ResponseSettings {
  readonly instructions: string | null;
  readonly tools: readonly object[];
  readonly tool_choice: unknown;
  readonly parallel_tool_calls: boolean;
  readonly text: object;
  readonly temperature: number;
  readonly top_p: number;
  readonly presence_penalty: number;
  readonly frequency_penalty: number;
  readonly reasoning: object;
  readonly max_output_tokens: number | null;
}

/** What changes while a response is written. */
export interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly object[];
  readonly completed_at?: number;
  readonly usage?: object | null;
  readonly incomplete_details?: { readonly reason: string };
  readonly error?: { readonly code: string; readonly message: string };
}

/** Returns a response with all members of the format. The members of what the service does not have are `null`. */
export function responseResource(
  { id, createdSeconds, model }: AnswerFacts,
  settings: ResponseSettings,
  state: ResponseState,
): object {
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: createdSeconds,
    completed_at: null,
    incomplete_details: null,
    model,
    previous_response_id: null,
    error: null,
    ...settings,
    truncation: 'disabled',
    top_logprobs: 0,
    usage: null,
    max_tool_calls: null,
    store: false,
    background: false,
    service_tier: 'default',
    metadata: {},
    safety_identifier: null,
    prompt_cache_key: null,
    ...state,
  };
}

/** Returns the token counts, or `null` if they are unknown. The format has no unknown details: they are 0. */
export function usageOf({ inputTokens, outputTokens, ...details }: AnswerUsage): object | null {
  if (inputTokens === undefined || outputTokens === undefined) return null;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: details.cachedInputTokens ?? 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: details.reasoningOutputTokens ?? 0 },
    total_tokens: inputTokens + outputTokens,
  };
}
