import type { ComponentChildren } from 'preact';
import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { ListedStream } from '../../usage/reports/recent-streams.js';
import { money } from '../format/money.js';
import { Moment, seconds, secondsBetween } from '../format/times.js';
import type { Page } from '../page.js';
import { Facts } from '../parts/blocks.js';
import { KeyName, OutcomeBadge } from './request-cells.js';
import { tokens } from './request-table.js';

interface Receipt {
  readonly stream: ListedStream;
  readonly keys: readonly ListedApiKey[];
  readonly section: 'usage' | 'requests';
  /** The account of the request, for operators. */
  readonly account?: ComponentChildren;
  /** The path of the list that the page belongs to. */
  readonly list: string;
  /** The path of the same request in the list of operators. */
  readonly inAllRequests?: string | undefined;
}

/** The page with the receipt of one request. */
export function receiptPage({ stream, keys, section, account, list, inAllRequests }: Receipt): Page {
  const { tokens: counts, cost, currency, attempts, errorCode } = stream;
  const content = (
    <div class="usage">
      <h1>Receipt</h1>
      <p>
        <a href={list}>← Requests</a>
      </p>
      <Facts
        facts={[
          ['Request ID', <code>{stream.request_id}</code>],
          account !== undefined && ['Account', account],
          ['Status', <OutcomeBadge stream={stream} />],
          errorCode !== null && ['Error', <code>{errorCode}</code>],
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
  return { title: 'Receipt', section, content, style: 'usage.css' };
}

function attemptOf({ upstream, code, duration_ms: ms }: ListedStream['attempts'][number], index: number) {
  return (
    <li key={index}>
      <code>{upstream}</code>: {code === undefined ? 'answered' : <code>{code}</code>}
      {ms === null ? '' : `, ${seconds(ms)}`}
    </li>
  );
}
