import type { ErrorCode } from '../../common/service-error.js';
import type { PriceConfig } from '../../config/config.js';
import type { AttemptTrace } from '../../upstreams/call-trace.js';
import type { StreamOutcome } from './stream-outcome.js';

/** A number of tokens with where it comes from. What nobody knows is no number. */
export type TokenCount =
  | { readonly source: 'reported' | 'estimated'; readonly count: number }
  /** The vendor reported an implausible number. The count is an estimate; `undefined` without a text to estimate it from. */
  | { readonly source: 'implausible'; readonly count: number | undefined; readonly reported: number }
  | { readonly source: 'unknown'; readonly count?: undefined };

/** Who asked, as the ledger keeps it. */
export interface UsageParty {
  readonly accountId: string;
  readonly credential: 'api_key' | 'session' | 'external';
  /** Of an API key only. */
  readonly keyId: string | undefined;
  /** What may be shown of the key. */
  readonly keyPrefix: string | undefined;
}

/** What is known of an admitted stream when it begins. */
export interface BegunStream extends UsageParty {
  /** Of this record alone: a client may send the same request id twice. */
  readonly id: string;
  readonly requestId: string;
  readonly model: string;
  /** Milliseconds since 1970, as all moments here. */
  readonly startedAt: number;
}

/** One admitted stream that is over, however it ended. There is exactly one for each. */
export interface UsageRecord extends BegunStream {
  /** Who answered, or failed last; `undefined` when none was asked. */
  readonly upstream: string | undefined;
  /** In order; the last is that of `upstream`. */
  readonly attempts: readonly AttemptTrace[];
  readonly firstTextAt: number | undefined;
  /** `undefined` when nobody saw it: the process was killed. */
  readonly endedAt: number | undefined;
  readonly outcome: StreamOutcome;
  /** What the client was told, where it was told of an error. */
  readonly errorCode: ErrorCode | undefined;
  /** The vendor's own word for why it stopped. */
  readonly finishReason: string | undefined;
  readonly promptTokens: TokenCount;
  readonly completionTokens: TokenCount;
  /** In force when the stream ended, where the model has one. */
  readonly price: PriceConfig | undefined;
  /** By that price, in whole millionths of its currency's unit; `undefined` without one, or where tokens are unknown. */
  readonly costMicros: number | undefined;
}
