import type { ModelConfig, UpstreamConfig } from '../../platform/config/config.js';
import { CAPABILITIES } from '../../platform/config/capabilities.js';
import type { StreamPart } from '../contract/stream-part.js';
import type { ConnectedUpstream } from '../protocols/protocol-registry.js';

/** The times of an answer that does not come from a provider. */
const TIMEOUTS = { connectMs: 1, firstTokenMs: 60_000, idleMs: 60_000 };
const FREE = { inputPerMillion: 0, outputPerMillion: 0 };

/** Returns an upstream that answers one request with `parts`. */
export function answeringUpstream(name: string, parts: AsyncIterable<StreamPart>): ConnectedUpstream {
  return {
    upstream: {
      ...{ name, protocol: name, baseUrl: undefined, apiKey: undefined, headers: {}, options: undefined },
      ...{ timeouts: TIMEOUTS, maxTokensField: 'max_tokens', includeUsage: false, maxEventBytes: Infinity },
    },
    protocol: { transport: 'in-process', name, capabilities: CAPABILITIES, stream: () => parts },
  };
}

/** Returns the model with this upstream as its only route. It costs nothing. */
export function answeredBy(model: ModelConfig, upstream: UpstreamConfig): ModelConfig {
  const price = { currency: model.price?.currency ?? 'USD', ...FREE };
  return {
    ...model,
    routes: [{ upstream, model: model.id, unsupportedOptions: [], price, priority: 0, weight: 1 }],
  };
}
