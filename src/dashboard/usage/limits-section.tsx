import type { TierConfig } from '../../config/config.js';
import type { LimitState } from '../../throttling/limit-store.js';
import { waitingTime } from '../waiting-time.js';
import { count } from './number-text.js';

export interface LimitsSectionProps {
  readonly tier: TierConfig;
  /** The current counts. `undefined` when the limit store does not answer. */
  readonly state: LimitState | undefined;
}

interface LimitLine {
  readonly name: string;
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
  readonly renewal: string;
}

/** Shows the limits of the tier, and the remaining quota of each limit. */
export function LimitsSection({ tier, state }: LimitsSectionProps) {
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">
        Limits of your tier <span class="badge">{tier.name}</span>
      </h2>
      {state === undefined ? (
        <p class="notice" role="status">
          The remaining quota is unavailable right now. The limits still apply. Reload the page later.
        </p>
      ) : null}
      <div class="table" role="region" aria-label="Limits" tabIndex={0}>
        <table class="limits">
          <caption class="visually-hidden">Limits and remaining quota</caption>
          <thead>
            <tr>
              <th scope="col">Limit</th>
              <th scope="col" class="number">
                Allowed
              </th>
              <th scope="col" class="number">
                Used
              </th>
              <th scope="col" class="number">
                Remaining
              </th>
              <th scope="col">Resets</th>
            </tr>
          </thead>
          <tbody>
            {linesOf(tier, state).map(({ name, limit, remaining, renewal }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="number">{limit === undefined ? 'No limit' : count(limit)}</td>
                <td class="number">
                  {limit === undefined ? '–' : remaining === undefined ? 'unknown' : count(limit - remaining)}
                  {limit === undefined || remaining === undefined ? null : <Gauge used={1 - remaining / limit} />}
                </td>
                <td class="number">
                  {limit === undefined ? '–' : remaining === undefined ? 'unknown' : count(remaining)}
                </td>
                <td>{limit === undefined ? '–' : renewal}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="fine">
        {tier.maxTokens === undefined
          ? 'Only the model limits the length of an answer.'
          : `An answer can have up to ${count(tier.maxTokens)} tokens.`}{' '}
        Requests above a limit get status 429 and cost nothing.
      </p>
    </section>
  );
}

function linesOf(tier: TierConfig, state: LimitState | undefined): readonly LimitLine[] {
  const { requests, streams, tokens } = state ?? {};
  const isMinuteUnused = requests !== undefined && requests.remaining === requests.limit;
  return [
    {
      name: 'Requests per minute',
      limit: tier.requestsPerMinute,
      remaining: requests?.remaining,
      renewal:
        requests === undefined || isMinuteUnused
          ? '1 minute after the first request'
          : `in ${waitingTime(requests.resetSeconds)}`,
    },
    {
      name: 'Concurrent streams',
      limit: tier.concurrentStreams,
      remaining: streams?.remaining,
      renewal: 'when a stream ends',
    },
    {
      name: 'Tokens per day',
      limit: tier.tokensPerDay,
      remaining: tokens?.remaining,
      renewal: tokens === undefined ? 'at midnight UTC' : `at midnight UTC, in ${waitingTime(tokens.resetSeconds)}`,
    },
  ];
}

/** A bar for the used part of a limit: amber from 80 % on, red at 100 %. */
function Gauge({ used }: { readonly used: number }) {
  const tone = used >= 1 ? 'gauge-full' : used >= 0.8 ? 'gauge-high' : 'gauge-low';
  const percent = Math.min(100, Math.round(used * 1000) / 10);
  return (
    <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect class="share-all" width="100" height="4" />
      <rect class={tone} width={percent} height="4" />
    </svg>
  );
}
