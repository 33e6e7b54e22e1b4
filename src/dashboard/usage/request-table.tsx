import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { ListedStream } from '../../usage/reports/recent-streams.js';
import { Moment } from '../layout/moment.js';
import { KeyName } from './key-names.js';
import { decimalsFor, money } from './money.js';
import { count } from './number-text.js';
import { OutcomeBadge } from './outcome-badge.js';

interface RequestTableProps {
  readonly streams: readonly ListedStream[];
  readonly keys: readonly ListedApiKey[] | undefined;
}

/** The latest requests. Each leads to its receipt. */
export function RequestTable({ streams, keys }: RequestTableProps) {
  const withCost = streams.some(({ cost }) => cost !== null);
  const decimals = decimalsFor(streams.map(({ cost }) => cost ?? 0));
  return (
    <div class="table" role="region" aria-label="Requests" tabIndex={0}>
      <table class="requests">
        <caption class="visually-hidden">Requests, latest first</caption>
        <thead>
          <tr>
            <th scope="col">Time (UTC)</th>
            <th scope="col">Model</th>
            <th scope="col">Key</th>
            <th scope="col">Status</th>
            <th scope="col" class="number">
              Input tokens
            </th>
            <th scope="col" class="number">
              Output tokens
            </th>
            {withCost ? (
              <th scope="col" class="number">
                Cost
              </th>
            ) : null}
            <th scope="col" class="number">
              First text
            </th>
            <th scope="col" class="number">
              Total time
            </th>
          </tr>
        </thead>
        <tbody>
          {streams.map((stream, index) => (
            <tr key={index}>
              <th scope="row">
                <a href={`/usage/requests/${encodeURIComponent(stream.request_id)}`}>
                  <Moment at={new Date(stream.started_at)} />
                </a>
              </th>
              <td>
                <code>{stream.model}</code>
              </td>
              <td>
                <KeyName {...stream} keys={keys} />
              </td>
              <td>
                <OutcomeBadge stream={stream} />
              </td>
              <td class="number">{tokens(stream.tokens.input, stream)}</td>
              <td class="number">{tokens(stream.tokens.output, stream)}</td>
              {withCost ? <td class="number">{costOf(stream, decimals)}</td> : null}
              <td class="number">{secondsBetween(stream.started_at, stream.first_text_at)}</td>
              <td class="number">{secondsBetween(stream.started_at, stream.ended_at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function costOf({ cost, currency }: ListedStream, decimals: number): string {
  return cost === null || currency === null ? '–' : money(cost, currency, decimals);
}

/** A count of tokens. `–` if the count is unknown. */
export function tokens(number: number | null, { tokens: { source } }: ListedStream): string {
  if (number === null) return '–';
  return source === 'estimated' ? `≈ ${count(number)}` : count(number);
}

/** A duration such as `1.25 s`. `–` if one of the times is unknown. */
export function secondsBetween(from: string, to: string | null): string {
  return to === null ? '–' : `${((Date.parse(to) - Date.parse(from)) / 1000).toFixed(2)} s`;
}
