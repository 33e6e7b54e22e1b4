import { ServiceError } from '../../../plugin-api/core/common.js';
import type { ModelConfig, TierConfig } from '../../../plugin-api/core/config.js';
import { type ConversationRequest, promptTokens, promptTokensNow } from '../../../plugin-api/core/upstreams.js';
import { isTooLong } from '../shared/error-formats.js';

/** The estimate of a prompt is within 10 %. A prompt is refused without asking the provider only if it is certainly too long. */
const CERTAIN_SHARE = 0.9;

/**
 * Refuses a request with too many tokens in Anthropic's own sentences: clients read the numbers, and send a request that fits.
 *
 * @throws {ServiceError} `invalid_request`.
 */
export async function requireRoom(request: ConversationRequest, model: ModelConfig, tier: TierConfig): Promise<void> {
  const { max_tokens: wanted = 0 } = request;
  const { contextLength, maxOutputTokens = Infinity } = model;
  const limit = Math.min(contextLength, maxOutputTokens, tier.maxTokens ?? Infinity);
  if (wanted > limit) {
    throw refusal(
      `max_tokens: ${wanted} > ${limit}, which is the maximum allowed number of output tokens for ${request.model}`,
    );
  }
  const { estimated: prompt } = await promptTokens(request);
  if (prompt * CERTAIN_SHARE + wanted > contextLength) throw noRoom(prompt, wanted, contextLength);
}

/** Returns the error of a provider in Anthropic's words, if the prompt was too long for the provider. */
export function withTokenCounts(error: unknown, request: ConversationRequest, { contextLength }: ModelConfig): unknown {
  if (!(error instanceof ServiceError) || !isTooLong(error)) return error;
  return noRoom(promptTokensNow(request).estimated, request.max_tokens ?? 0, contextLength);
}

function noRoom(prompt: number, wanted: number, contextLength: number): ServiceError {
  const fitsAlone = prompt <= contextLength && prompt + wanted > contextLength;
  return refusal(
    fitsAlone
      ? `input length and \`max_tokens\` exceed context limit: ${prompt} + ${wanted} > ${contextLength}, decrease input ` +
          'length or `max_tokens` and try again'
      : `prompt is too long: ${Math.max(prompt, contextLength + 1)} tokens > ${contextLength} maximum`,
  );
}

/** Without details, the message is sent as it is. */
function refusal(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
