import type { FoundRequest } from '../../observability/search/request-search.js';
import { count } from '../format/numbers.js';
import { Moment, secondsBetween } from '../format/times.js';
import { Table } from '../parts/table.js';
import { REQUESTS_PATH } from '../paths.js';
import { KeyName, ModelName, OutcomeBadge } from '../usage/request-cells.js';
import { AccountName, type Emails } from './account-name.js';

interface RequestTableProps {
  readonly requests: readonly FoundRequest[];
  readonly empty: string;
  readonly emails: Emails;
}

/** The requests of all accounts. Each leads to its receipt, or to the facts about its refusal. */
export function RequestTable({ requests, empty, emails }: RequestTableProps) {
  return (
    <Table
      caption="Requests, latest first"
      class="requests"
      rows={requests.map(rowOf)}
      empty={empty}
      columns={[
        {
          title: 'Time (UTC)',
          cell: ({ path, at }) => (
            <a href={path}>
              <Moment at={at} withSeconds />
            </a>
          ),
        },
        { title: 'Outcome', cell: ({ outcome }) => outcome },
        { title: 'Account', cell: ({ request }) => <AccountName id={request.accountId} emails={emails} /> },
        { title: 'Model', cell: ({ request }) => <ModelName id={request.model} /> },
        { title: 'Key', cell: ({ request }) => <KeyName {...request} keys={[]} /> },
        { title: 'First text', isNumber: true, cell: ({ firstText }) => firstText },
        { title: 'Total time', isNumber: true, cell: ({ totalTime }) => totalTime },
      ]}
    />
  );
}

function rowOf(found: FoundRequest) {
  if (found.kind === 'stream') {
    const { stream: request } = found;
    const { id, started_at: startedAt, errorCode } = request;
    return {
      request,
      path: `${REQUESTS_PATH}/streams/${encodeURIComponent(id)}`,
      at: new Date(startedAt),
      outcome: (
        <>
          <OutcomeBadge stream={request} /> {errorCode === null ? null : <code>{errorCode}</code>}
        </>
      ),
      firstText: secondsBetween(startedAt, request.first_text_at),
      totalTime: secondsBetween(startedAt, request.ended_at),
    };
  }
  const { refused: request } = found;
  const { id, refusedAt, status, errorCode, reason, similar } = request;
  return {
    request,
    path: `${REQUESTS_PATH}/refused/${encodeURIComponent(id)}`,
    at: new Date(refusedAt),
    outcome: (
      <>
        <span class="badge bad">Refused</span> {status} <code>{reason ?? errorCode}</code>
        {similar === 0 ? null : <small> and {count(similar)} more</small>}
      </>
    ),
    firstText: '–',
    totalTime: '–',
  };
}
