import type { UpstreamConfig } from '../../../config/config.js';

/** The member that holds the reasoning, by upstream and by the provider's name of the model. */
const known = new WeakMap<UpstreamConfig, Map<string, string>>();

/** Records the member in which a model sends its reasoning. */
export function recordReasoningMember(upstream: UpstreamConfig, model: string, member: string): void {
  const members = known.get(upstream) ?? new Map<string, string>();
  known.set(upstream, members);
  members.set(model, member);
}

/**
 * Returns the member in which a model has sent reasoning since the start of the process. Such a model takes the reasoning of
 * earlier turns in the same member, and some models require it.
 */
export function knownReasoningMember(upstream: UpstreamConfig, model: string): string | undefined {
  return known.get(upstream)?.get(model);
}
