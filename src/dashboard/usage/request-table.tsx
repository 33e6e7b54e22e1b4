import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { ListedStream } from '../../usage/reports/recent-streams.js';
import { money } from '../format/money.js';
import { count, ESTIMATED } from '../format/numbers.js';
import { Moment, secondsBetween } from '../format/times.js';
import { Table } from '../parts/table.js';
import { KeyName, OutcomeBadge } from './request-cells.js';
import { decimalsOf, type CostDecimals } from './sum-texts.js';

interface RequestTableProps {
  readonly streams: readonly ListedStream[];
  readonly keys: readonly ListedApiKey[] | undefined;
  /** What the page shows without requests. */
  readonly empty?: string;
  /** By default, what these requests need. */
  readonly decimals?: CostDecimals;
}

/** The known costs of the streams. */
export function streamCosts(streams: readonly ListedStream[]): readonly (readonly [currency: string, cost: number])[] {
  return streams.flatMap(({ cost, currency }) =>
    cost === null || currency === null ? [] : [[currency, cost] as const],
  );
}

/** The latest requests. Each leads to its receipt. */
export function RequestTable({ streams, keys, empty, decimals = decimalsOf(streamCosts(streams)) }: RequestTableProps) {
  const timeOf = ({ request_id: id, started_at: at }: ListedStream) => (
    <a href={`/usage/requests/${encodeURIComponent(id)}`}>
      <Moment at={new Date(at)} />
    </a>
  );
  return (
    <>
      <Table
        caption="Requests, latest first"
        class="requests"
        rows={streams}
        empty={empty}
        columns={[
          { title: 'Time (UTC)', cell: timeOf },
          { title: 'Model', cell: ({ model }) => <code>{model}</code> },
          { title: 'Key', cell: (stream) => <KeyName {...stream} keys={keys} /> },
          { title: 'Status', cell: (stream) => <OutcomeBadge stream={stream} /> },
          { title: 'Input tokens', isNumber: true, cell: (stream) => tokens(stream.tokens.input, stream) },
          { title: 'Output tokens', isNumber: true, cell: (stream) => tokens(stream.tokens.output, stream) },
          streams.some(({ cost }) => cost !== null) && {
            title: 'Cost',
            isNumber: true,
            cell: ({ cost, currency }) =>
              cost === null || currency === null ? '–' : money(cost, currency, decimals.get(currency)),
          },
          {
            title: 'First text',
            isNumber: true,
            cell: ({ started_at: from, first_text_at: to }) => secondsBetween(from, to),
          },
          {
            title: 'Total time',
            isNumber: true,
            cell: ({ started_at: from, ended_at: to }) => secondsBetween(from, to),
          },
        ]}
      />
      {streams.some(({ tokens: { source } }) => source === 'estimated') ? (
        <p class="fine">{ESTIMATED} Estimated, because the provider did not report the token counts.</p>
      ) : null}
    </>
  );
}

/** A count of tokens. `–` if the count is unknown. */
export function tokens(number: number | null, { tokens: { source } }: ListedStream): string {
  if (number === null) return '–';
  return source === 'estimated' ? `${ESTIMATED} ${count(number)}` : count(number);
}
