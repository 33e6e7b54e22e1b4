import type { ComponentChildren } from 'preact';
import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { ListedStream } from '../../usage/reports/recent-streams.js';
import { Moment } from '../layout/moment.js';
import { KeyName } from './key-names.js';
import { money } from './money.js';
import { OutcomeBadge } from './outcome-badge.js';
import { secondsBetween, tokens } from './request-table.js';

interface ReceiptViewProps {
  readonly stream: ListedStream;
  readonly keys: readonly ListedApiKey[];
}

/** The page with the receipt of one request. */
export function ReceiptView({ stream, keys }: ReceiptViewProps) {
  const { tokens: counts, cost, currency, attempts } = stream;
  const facts: [label: string, value: ComponentChildren][] = [
    ['Request ID', <code>{stream.request_id}</code>],
    ['Status', <OutcomeBadge stream={stream} />],
    ...(stream.errorCode === null ? [] : [['Error', <code>{stream.errorCode}</code>] as [string, ComponentChildren]]),
    ['Finish reason', stream.finish_reason ?? '–'],
    ['Model', <code>{stream.model}</code>],
    ['Key', <KeyName {...stream} keys={keys} />],
    [
      'Started',
      <>
        <Moment at={new Date(stream.started_at)} /> UTC
      </>,
    ],
    ['Time to first text', secondsBetween(stream.started_at, stream.first_text_at)],
    ['Total time', secondsBetween(stream.started_at, stream.ended_at)],
    ['Input tokens', tokens(counts.input, stream)],
    ['Input tokens read from cache', tokens(counts.cached_input, stream)],
    ['Input tokens written to cache', tokens(counts.cache_write_input, stream)],
    ['Output tokens', tokens(counts.output, stream)],
    ['Reasoning tokens', tokens(counts.reasoning_output, stream)],
    ['Cost', cost === null || currency === null ? 'Unknown' : money(cost, currency)],
  ];
  return (
    <div class="usage">
      <h1>Receipt</h1>
      <p>
        <a href="/usage/requests">← Requests</a>
      </p>
      <dl class="facts">
        {facts.map(([label, value]) => (
          <>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
      <h2>Attempts</h2>
      {attempts.length === 0 ? (
        <p>No provider was called.</p>
      ) : (
        <ol>
          {attempts.map(({ upstream, code, duration_ms: ms }, index) => (
            <li key={index}>
              <code>{upstream}</code>: {code === undefined ? 'answered' : <code>{code}</code>}
              {ms === null ? '' : `, ${(ms / 1000).toFixed(2)} s`}
            </li>
          ))}
        </ol>
      )}
      <p class="fine">Prompts and answers are not stored.</p>
    </div>
  );
}
