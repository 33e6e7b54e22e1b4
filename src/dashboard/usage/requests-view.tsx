import type { ComponentChildren } from 'preact';
import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { ListedStream, StreamList } from '../../usage/reports/recent-streams.js';
import { money } from '../format/money.js';
import { Moment, seconds, secondsBetween } from '../format/times.js';
import { Facts, type Fact } from '../parts/facts.js';
import { positionQuery } from '../parts/list-position.js';
import { OlderLinks } from '../parts/older-links.js';
import { pathWith } from '../parts/query.js';
import { KeyName } from './key-names.js';
import { OutcomeBadge } from './outcome-badge.js';
import { RequestTable, tokens } from './request-table.js';
import { FilterForm, type UsageFilter } from './usage-filter.js';

const PATH = '/usage/requests';

interface RequestsViewProps {
  readonly filter: UsageFilter;
  readonly list: StreamList;
  readonly models: readonly string[];
  readonly keys: readonly ListedApiKey[];
  readonly isFirstPage: boolean;
}

/** The page with the single requests of an account. */
export function RequestsView({ filter, list: { streams, next }, models, keys, isFirstPage }: RequestsViewProps) {
  const values = { ...filter };
  return (
    <div class="usage">
      <h1>Requests</h1>
      <p>
        <a href={pathWith('/usage', values)}>← Usage</a>
      </p>
      <FilterForm filter={filter} path={PATH} models={models} keys={keys} />
      {streams.length === 0 ? (
        <p class="empty">
          {next === undefined
            ? 'No requests in this period.'
            : 'None of the latest requests match. Look at older requests.'}
        </p>
      ) : (
        <RequestTable streams={streams} keys={keys} />
      )}
      <OlderLinks
        latest={isFirstPage ? undefined : pathWith(PATH, values)}
        older={next && pathWith(PATH, { ...values, ...positionQuery(next) })}
      />
    </div>
  );
}

interface ReceiptViewProps {
  readonly stream: ListedStream;
  readonly keys: readonly ListedApiKey[];
  /** The account of the request, for operators. */
  readonly account?: ComponentChildren;
  /** The path of the list that the page belongs to. */
  readonly list?: string;
  /** The path of the same request in the list of operators. */
  readonly inAllRequests?: string | undefined;
}

/** The page with the receipt of one request. */
export function ReceiptView({ stream, keys, account, list = PATH, inAllRequests }: ReceiptViewProps) {
  const { tokens: counts, cost, currency, attempts, errorCode } = stream;
  const error: readonly Fact[] = errorCode === null ? [] : [['Error', <code>{errorCode}</code>]];
  const ofAccount: readonly Fact[] = account === undefined ? [] : [['Account', account]];
  return (
    <div class="usage">
      <h1>Receipt</h1>
      <p>
        <a href={list}>← Requests</a>
      </p>
      <Facts
        facts={[
          ['Request ID', <code>{stream.request_id}</code>],
          ...ofAccount,
          ['Status', <OutcomeBadge stream={stream} />],
          ...error,
          ['Finish reason', stream.finish_reason ?? '–'],
          ['Model', <code>{stream.model}</code>],
          ['Interface', stream.surface ?? '–'],
          ['Key', <KeyName {...stream} keys={keys} />],
          ['Started', <Moment at={new Date(stream.started_at)} withZone />],
          ['Time to first text', secondsBetween(stream.started_at, stream.first_text_at)],
          ['Total time', secondsBetween(stream.started_at, stream.ended_at)],
          ['Input tokens', tokens(counts.input, stream)],
          ['Input tokens read from cache', tokens(counts.cached_input, stream)],
          ['Input tokens written to cache', tokens(counts.cache_write_input, stream)],
          ['Output tokens', tokens(counts.output, stream)],
          ['Reasoning tokens', tokens(counts.reasoning_output, stream)],
          ['Tool calls', stream.tool_calls === null ? 'Unknown' : String(stream.tool_calls)],
          ['Cost', cost === null || currency === null ? 'Unknown' : money(cost, currency)],
        ]}
      />
      <h2>Attempts</h2>
      {attempts.length === 0 ? <p>No provider was called.</p> : <ol>{attempts.map(attemptOf)}</ol>}
      {inAllRequests === undefined ? null : (
        <p>
          <a href={inAllRequests}>Find in the requests of all accounts</a>
        </p>
      )}
      <p class="fine">Prompts and answers are not stored.</p>
    </div>
  );
}

function attemptOf(
  { upstream, code, duration_ms: ms }: ListedStream['attempts'][number],
  index: number,
): ComponentChildren {
  return (
    <li key={index}>
      <code>{upstream}</code>: {code === undefined ? 'answered' : <code>{code}</code>}
      {ms === null ? '' : `, ${seconds(ms)}`}
    </li>
  );
}
