import type { ListedStream } from '../../usage/reports/recent-streams.js';
import { FAILED_OUTCOMES, type StreamOutcome } from '../../usage/record/stream-outcome.js';

export const OUTCOME_WORDS: Readonly<Record<StreamOutcome, string>> = {
  completed: 'Complete',
  client_gone: 'Stopped',
  upstream_failed: 'Model failed',
  rejected: 'Rejected',
  timed_out: 'Timed out',
  revoked: 'Key revoked',
  drained: 'Shut down',
  failed: 'Failed',
  interrupted: 'Interrupted',
};

/** How a stream ended. An answer that was cut off at the token limit says so. */
export function OutcomeBadge({ stream }: { readonly stream: ListedStream }) {
  const { outcome, finish_reason: reason } = stream;
  if (outcome === 'completed' && reason === 'length') return <span class="badge">Cut off at the token limit</span>;
  const tone = outcome === 'completed' ? 'good' : FAILED_OUTCOMES.includes(outcome) ? 'bad' : '';
  return <span class={`badge ${tone}`}>{OUTCOME_WORDS[outcome]}</span>;
}
