import { ServiceError } from '../../platform/common/service-error.js';
import type { ModelConfig, AppliedPrice, PriceConfig, TokenPrices } from '../../platform/config/config.js';
import type { CallTrace } from '../../upstreams/completion/call-trace.js';
import {
  isSeenFailure,
  streamOutcomeOf,
  type StartedStream,
  type UsageRecord,
  type TokenCount,
} from './usage-record.js';
import { outputTokensOf, inputTokensOf } from './token-counts.js';
import type { TokenUsage } from '../../upstreams/contract/stream-part.js';

/** The members of a record that decide its cost. */
type PricedTokens = Pick<
  UsageRecord,
  'inputTokens' | 'cachedInputTokens' | 'cacheWriteInputTokens' | 'outputTokens' | 'reasoningOutputTokens'
>;

/** Returns the prices for a prompt of this size. */
export function appliedPrice(
  price: PriceConfig | undefined,
  { inputTokens }: Pick<PricedTokens, 'inputTokens'>,
): AppliedPrice | undefined {
  if (price === undefined) return undefined;
  const { longInput, currency } = price;
  const isLong = longInput !== undefined && (inputTokens.count ?? 0) > longInput.aboveInputTokens;
  const prices = isLong ? longInput : price;
  return {
    inputPerMillion: prices.inputPerMillion,
    cachedInputPerMillion: prices.cachedInputPerMillion,
    cacheWriteInputPerMillion: prices.cacheWriteInputPerMillion,
    outputPerMillion: prices.outputPerMillion,
    reasoningOutputPerMillion: prices.reasoningOutputPerMillion,
    currency,
  };
}

/**
 * Returns the cost in whole millionths of the currency unit. A price is per million tokens, so the price is also the cost
 * of one token in millionths. `undefined`: there is no price, or no count is known. Next to a known count, an unknown one costs
 * nothing.
 *
 * Tokens whose kind the provider does not report count as ordinary input or output, and so do tokens whose kind has no price.
 */
export function costMicrosOf(price: TokenPrices | undefined, tokens: PricedTokens): number | undefined {
  const { inputTokens, outputTokens } = tokens;
  const {
    cachedInputTokens: cached = 0,
    cacheWriteInputTokens: written = 0,
    reasoningOutputTokens: reasoning = 0,
  } = tokens;
  if (price === undefined || (inputTokens.count === undefined && outputTokens.count === undefined)) return undefined;
  const { inputPerMillion, outputPerMillion } = price;
  const fresh = Math.max(0, (inputTokens.count ?? 0) - cached - written);
  const text = Math.max(0, (outputTokens.count ?? 0) - reasoning);
  return Math.round(
    fresh * inputPerMillion +
      cached * (price.cachedInputPerMillion ?? inputPerMillion) +
      written * (price.cacheWriteInputPerMillion ?? inputPerMillion) +
      text * outputPerMillion +
      reasoning * (price.reasoningOutputPerMillion ?? outputPerMillion),
  );
}

declare module '../../platform/http/request/request-context.js' {
  interface RequestContext {
    /** The usage record of the stream that the request has started. */
    ledgerEntry?: LedgerEntry;
  }
}

/** The maximum length of the provider's finish reason, in UTF-16 units. The rest is cut off. */
const MAX_REASON_LENGTH = 64;
/** Control characters and halves of surrogate pairs. */
const ODD_CHARACTERS = /[\p{Cc}\p{Cs}]/gu;

/** An admitted stream, from its start until its record exists. */
export class LedgerEntry {
  private record: UsageRecord | undefined;
  private listener: ((record: UsageRecord) => void) | undefined;

  /** @param stored resolves when the intent is stored, or when the store is unavailable. The provider must not be called earlier. */
  constructor(
    readonly started: StartedStream,
    private readonly model: Pick<ModelConfig, 'price'> & ModelSize,
    readonly stored: Promise<void>,
    private readonly onOver: (record: UsageRecord) => void,
  ) {}

  /** Creates the record and keeps it, see {@link recordOf}. Call this once, when the stream is over. */
  end(failure: unknown, trace: CallTrace, promptTokens: number): UsageRecord {
    const record = this.recordOf(failure, trace, promptTokens);
    this.close(record);
    return record;
  }

  /**
   * Creates the record of a stream that is over, for {@link close}.
   *
   * @param failure the reason why the answer is not complete. `undefined`: the answer is complete.
   * @param promptTokens the estimated tokens of the prompt.
   * @param maxTokens the limit of the answer that the provider got. `undefined`: none.
   */
  recordOf(failure: unknown, trace: CallTrace, promptTokens: number, maxTokens?: number): UsageRecord {
    const { started } = this;
    const { startedAt } = started;
    const { attempts, lastAttempt, finish } = trace;
    const maxPlausible = maxPlausibleTokens(this.model);
    const outcome = streamOutcomeOf(failure);
    const inputTokens = inputTokensOf(trace, promptTokens, maxPlausible, isSeenFailure(outcome));
    const outputTokens = outputTokensOf(trace, failure === undefined, maxPlausible, maxTokens);
    const kinds = tokenKindsOf(trace.usage, inputTokens, outputTokens);
    const price = appliedPrice(lastAttempt?.price ?? this.model.price, { inputTokens });
    const answered = lastAttempt?.firstTextMs === undefined ? undefined : lastAttempt;
    // The members are copied one by one: a spread of `started` would cost more than all other work for a record.
    return {
      id: started.id,
      requestId: started.requestId,
      accountId: started.accountId,
      credential: started.credential,
      keyId: started.keyId,
      keyPrefix: started.keyPrefix,
      model: started.model,
      startedAt,
      detached: started.detached,
      surface: started.surface,
      upstream: lastAttempt?.upstream,
      attempts,
      firstTextAt: answered && startedAt + answered.startedMs + (answered.firstTextMs ?? 0),
      endedAt: startedAt + trace.elapsedMs,
      outcome,
      errorCode: failure instanceof ServiceError ? failure.code : undefined,
      finishReason: finish && reasonOf(finish.raw),
      inputTokens,
      cachedInputTokens: kinds.cachedInputTokens,
      cacheWriteInputTokens: kinds.cacheWriteInputTokens,
      outputTokens,
      reasoningOutputTokens: kinds.reasoningOutputTokens,
      toolCalls: trace.toolCalls,
      price,
      costMicros: price && costMicrosOf(price, { inputTokens, outputTokens, ...kinds }),
    };
  }

  /** Keeps the record. Call this once. */
  close(record: UsageRecord): void {
    this.record = record;
    this.onOver(record);
    this.listener?.(record);
  }

  /** Calls `listener` with the record: now, or when the stream is over. There is at most one listener. */
  whenOver(listener: (record: UsageRecord) => void): void {
    if (this.record === undefined) this.listener = listener;
    else listener(this.record);
  }
}

/** Returns the record of a complete answer that could not be delivered. */
export function failedRecord(record: UsageRecord, failure: ServiceError): UsageRecord {
  return { ...record, outcome: streamOutcomeOf(failure), errorCode: failure.code };
}

/** @param raw a text. A protocol of a team may be written without types and pass other values. */
function reasonOf(raw: unknown): string | undefined {
  return typeof raw === 'string' ? raw.slice(0, MAX_REASON_LENGTH).replace(ODD_CHARACTERS, ' ') : undefined;
}

/**
 * A count is implausible above this multiple of the size of the model. The factor is wide for two reasons: providers that
 * search the web or run tools count the tokens of every round, and the configured context length may be too small.
 */
const PLAUSIBLE_FACTOR = 100;
/** The limit for a model of any size. The sum of millions of such counts is still exact. */
const MAX_TOKENS = 1_000_000_000;

/** Returns the highest plausible number of tokens, for a prompt as well as for an answer. */
export function maxPlausibleTokens({ contextLength, maxOutputTokens = contextLength }: ModelSize): number {
  return Math.min(MAX_TOKENS, PLAUSIBLE_FACTOR * (contextLength + maxOutputTokens));
}

export type ModelSize = Pick<ModelConfig, 'contextLength' | 'maxOutputTokens'>;

type TokenKinds = Pick<UsageRecord, 'cachedInputTokens' | 'cacheWriteInputTokens' | 'reasoningOutputTokens'>;

/**
 * Returns the parts of the counts that the provider has reported by kind. A part is unknown next to a whole that the
 * provider has not reported, and if it is larger than its whole.
 *
 * @param usage the report of the provider.
 */
export function tokenKindsOf(usage: TokenUsage, input: TokenCount, output: TokenCount): TokenKinds {
  const { cachedInputTokens, cacheWriteInputTokens, reasoningOutputTokens } = usage;
  const cache = (cachedInputTokens ?? 0) + (cacheWriteInputTokens ?? 0);
  const isCacheBelievable =
    isPartOf(cachedInputTokens, input) && isPartOf(cacheWriteInputTokens, input) && isPartOf(cache, input);
  return {
    cachedInputTokens: isCacheBelievable ? cachedInputTokens : undefined,
    cacheWriteInputTokens: isCacheBelievable ? cacheWriteInputTokens : undefined,
    reasoningOutputTokens: isPartOf(reasoningOutputTokens, output) ? reasoningOutputTokens : undefined,
  };
}

/** Checks the type too, because a protocol of a team may be written without types. */
function isPartOf(part: number | undefined, whole: TokenCount): boolean {
  if (part === undefined) return true;
  return Number.isInteger(part) && part >= 0 && whole.source === 'reported' && part <= whole.count;
}
