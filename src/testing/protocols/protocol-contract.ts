import type { ErrorCode } from '../../platform/common/service-error.js';
import type { UpstreamConfig } from '../../platform/config/config.js';
import type { CallContext, HttpProtocol, ProviderEvent } from '../../upstreams/contract/protocol.js';
import type { FinishReason, StreamPart, TokenUsage } from '../../upstreams/contract/stream-part.js';
import { TEST_CALL, TEST_CONTEXT, TEST_UPSTREAM, withOptions } from './samples.js';

/**
 * What the service reads from a whole answer. A member that is missing here must be missing in the answer.
 *
 * @since 1.0
 */
export interface ExpectedAnswer {
  readonly text: string;
  readonly finish?: { readonly reason: FinishReason; readonly raw: string };
  readonly usage?: TokenUsage;
  /** The provider has declared the answer complete, and did not fail. */
  readonly complete: boolean;
  readonly error?: ErrorCode;
  /** The tool calls in their order. Without `json`: the provider has not ended the call. */
  readonly toolCalls?: readonly { readonly name: string; readonly json?: string }[];
  /** The number of parts that show work on something else than the text and the tool calls: reasoning and progress. */
  readonly progress?: number;
}

/**
 * A recorded answer of a provider, and what it means.
 *
 * @since 1.0
 */
export interface RecordedAnswer {
  /** For the names of the tests, such as `acme/two-words`. */
  readonly name: string;
  /** The body as it arrived. */
  readonly bytes: Uint8Array | string;
  readonly expected: ExpectedAnswer;
}

/**
 * A protocol, and what may differ between protocols.
 *
 * @since 1.0
 */
export interface ProtocolContract {
  readonly protocol: HttpProtocol;
  /** Recorded answers of providers that speak the protocol. */
  readonly answers?: readonly RecordedAnswer[];
  /**
   * Names of members and values of the JSON of the protocol. The suite combines them to arbitrary events, which then reach more
   * than the first check.
   */
  readonly vocabulary?: readonly string[];
  /** The media type that a request accepts. By default `text/event-stream`. */
  readonly accept?: string;
  /** Members of the JSON body of {@link TEST_CALL}. By default the suite does not check members. */
  readonly body?: object;
  /** Whether the framing has names of events. By default true. */
  readonly hasEventNames?: boolean;
  /** Whether requests carry a credential that does not come from `api_key`, such as a fetched token. By default false. */
  readonly hasOwnCredential?: boolean;
  /** Members of the upstream that the protocol needs, such as `options`. */
  readonly upstream?: Partial<UpstreamConfig>;
  /**
   * Members of the context that the protocol needs, such as a `fetch` that answers with a token, or with the id of a job. If the
   * answer has a GET request of its own, the suite reads the JSON that this `fetch` has sent last.
   */
  readonly context?: Partial<CallContext>;
}

/** Returns how the suites use a protocol. */
export function subjectOf({ protocol, hasEventNames = true, ...contract }: ProtocolContract) {
  const context = { ...TEST_CONTEXT, ...contract.context };
  const upstreamWith = (members: Partial<UpstreamConfig> = {}) =>
    withOptions(protocol, { ...TEST_UPSTREAM, ...contract.upstream, ...members });
  return {
    protocol,
    hasEventNames,
    upstream: upstreamWith(),
    open: () => protocol.open(TEST_CALL, upstreamWith()),
    partsOf: (event: ProviderEvent): readonly StreamPart[] =>
      protocol.open(TEST_CALL, upstreamWith()).parts(hasEventNames ? event : { ...event, event: 'message' }),
    requestOf: async (members: Partial<UpstreamConfig> = {}, call = TEST_CALL) => {
      let sent: unknown;
      const fetch: CallContext['fetch'] = (url, init) => {
        sent = init?.body;
        return context.fetch(url, init);
      };
      const request = await protocol.request(call, upstreamWith(members), { ...context, fetch });
      return request.method === 'GET' && typeof sent === 'string' ? { ...request, body: sent } : request;
    },
  };
}

export type ProtocolSubject = ReturnType<typeof subjectOf>;
