import type { FoundRequest, FoundRequests } from '../../../observability/search/request-search.js';
import { PageForm } from '../../forms/page-form.js';
import { count } from '../../format/numbers.js';
import { Moment, secondsBetween } from '../../format/times.js';
import { REQUESTS_ENTRY } from '../../layout/navigation.js';
import { positionQuery } from '../../parts/list-position.js';
import { Notice } from '../../parts/notice.js';
import { OlderLinks } from '../../parts/older-links.js';
import { pathWith } from '../../parts/query.js';
import { Table } from '../../parts/table.js';
import { KeyName } from '../../usage/key-names.js';
import { OutcomeBadge } from '../../usage/outcome-badge.js';
import { AccountName, type Emails } from '../account-name.js';
import { OUTCOMES, type RequestQuery } from './request-filter.js';

const { path: PATH } = REQUESTS_ENTRY;

interface RequestsViewProps {
  readonly query: RequestQuery;
  readonly found: FoundRequests;
  readonly emails: Emails;
  /** The models that the filter offers. */
  readonly models: readonly string[];
  readonly isFirstPage: boolean;
  /** Whether the account of the query does not exist. */
  readonly isUnknownAccount: boolean;
}

/** The page of operators with the requests of all accounts. */
export function RequestsView({ query, found, emails, models, isFirstPage, isUnknownAccount }: RequestsViewProps) {
  const { requests, next } = found;
  const values = { ...query };
  return (
    <div class="usage">
      <h1>Requests</h1>
      <FilterForm query={query} models={models} />
      <Notice>{isUnknownAccount ? 'No account has this email. Search for deleted accounts by ID.' : undefined}</Notice>
      {requests.length === 0 ? (
        <p class="empty">
          {next === undefined ? 'No request matches.' : 'None of the latest requests match. Look at older requests.'}
        </p>
      ) : (
        <FoundTable requests={requests} emails={emails} />
      )}
      <OlderLinks
        latest={isFirstPage ? undefined : pathWith(PATH, values)}
        older={next && pathWith(PATH, { ...values, ...positionQuery(next) })}
      />
      <p class="fine">
        Latest first. Times are in UTC. Running streams appear when they end. Refused requests are a sample: of similar
        requests in a minute, the first 5 and the last are kept, for 7 days. Requests without a known account or key are
        only counted, on the page Status. Prompts and answers are not stored.
      </p>
    </div>
  );
}

function FilterForm({ query, models }: Pick<RequestsViewProps, 'query' | 'models'>) {
  const { request, account, key, model, outcome } = query;
  return (
    <PageForm
      method="get"
      action={PATH}
      layout="row"
      fields={[
        { label: 'Request ID', name: 'request', type: 'search', value: request, maxLength: 128 },
        { label: 'Account', name: 'account', type: 'search', value: account, placeholder: 'email or ID' },
        { label: 'Key', name: 'key', type: 'search', value: key, maxLength: 36, placeholder: 'prefix or ID' },
        {
          label: 'Model',
          name: 'model',
          type: 'search',
          suggestions: models,
          value: model,
        },
        { label: 'Outcome', name: 'outcome', type: 'select', options: OUTCOMES, value: outcome },
      ]}
      button="Search"
      tone="quiet"
    />
  );
}

function FoundTable({ requests, emails }: Pick<FoundRequests, 'requests'> & { readonly emails: Emails }) {
  return (
    <Table
      caption="Requests, latest first"
      class="requests"
      rows={requests}
      columns={[
        { title: 'Time (UTC)', cell: linkOf },
        { title: 'Outcome', cell: outcomeOf },
        {
          title: 'Account',
          cell: (each) => <AccountName id={accountOf(each)} emails={emails} />,
        },
        {
          title: 'Model',
          cell: (each) => {
            const model = each.kind === 'stream' ? each.stream.model : each.refused.model;
            return model === null ? <span class="none">–</span> : <code>{model}</code>;
          },
        },
        {
          title: 'Key',
          cell: (each) => <KeyName {...(each.kind === 'stream' ? each.stream : each.refused)} keys={[]} />,
        },
        {
          title: 'First text',
          isNumber: true,
          cell: (each) =>
            each.kind === 'stream' ? secondsBetween(each.stream.started_at, each.stream.first_text_at) : '–',
        },
        {
          title: 'Total time',
          isNumber: true,
          cell: (each) => (each.kind === 'stream' ? secondsBetween(each.stream.started_at, each.stream.ended_at) : '–'),
        },
      ]}
    />
  );
}

function linkOf(each: FoundRequest) {
  const [path, at] =
    each.kind === 'stream'
      ? [`${PATH}/streams/${encodeURIComponent(each.stream.id)}`, Date.parse(each.stream.started_at)]
      : [`${PATH}/refused/${encodeURIComponent(each.refused.id)}`, each.refused.refusedAt];
  return (
    <a href={path}>
      <Moment at={new Date(at)} withSeconds />
    </a>
  );
}

function accountOf(each: FoundRequest): string {
  return each.kind === 'stream' ? each.stream.accountId : each.refused.accountId;
}

function outcomeOf(each: FoundRequest) {
  if (each.kind === 'stream') {
    const { errorCode } = each.stream;
    return (
      <>
        <OutcomeBadge stream={each.stream} /> {errorCode === null ? null : <code>{errorCode}</code>}
      </>
    );
  }
  const { status, errorCode, reason, similar } = each.refused;
  return (
    <>
      <span class="badge bad">Refused</span> {status} <code>{reason ?? errorCode}</code>
      {similar === 0 ? null : <small> and {count(similar)} more</small>}
    </>
  );
}
