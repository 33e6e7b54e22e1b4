import type { ComponentChildren } from 'preact';
import type { ListedApiKey } from '../../../plugin-api/core/accounts.js';
import { ERRORS } from '../../../plugin-api/core/common.js';
import type { TimePage, TimePosition } from '../../../plugin-api/core/database.js';
import { type FailureCause, failureText } from '../../../plugin-api/core/upstreams.js';
import { isSeenFailure, type ListedStream } from '../../../plugin-api/core/usage.js';
import type { FormField } from '../forms/page-form.js';
import type { Page } from '../layout/layout.js';
import { BackLink, Notice, Facts } from '../parts/blocks.js';
import { FilterForm, OlderLinks } from '../parts/lists.js';
import { count, money, LocalTime, seconds, secondsBetween } from '../numbers-and-times.js';
import { pathWith, USAGE_PATH } from '../paths.js';
import type { FoundRequest, RefusedRequest } from '../requests/refused-requests.js';
import { MAX_KEY_LENGTH, STATUSES, type RequestQuery, periodFields } from './request-finder.js';
import { RequestTable, type RequestTableProps, KeyName, OutcomeBadge, RefusalReason, tokens } from './request-table.js';
import { keyField, modelField } from './usage-filter.js';

interface RequestsPageProps
  extends Pick<RequestTableProps, 'accountOf' | 'pathOf'>, Required<Pick<Page, 'section'>>, FieldLists {
  /** The path of the page. The file with the same requests is below. */
  readonly path: string;
  readonly query: RequestQuery;
  /** What is wrong with the query. */
  readonly problem: string | undefined;
  readonly before: TimePosition | undefined;
  readonly found: TimePage<FoundRequest>;
}

/** The page with a filter, the requests that pass it, and links to older requests and to the file. */
export function requestsPage(props: RequestsPageProps): Page {
  const { section, path, query, problem, before, found, accountOf, pathOf, ...lists } = props;
  const { rows, next } = found;
  const content = (
    <div class="usage">
      <h1>Requests</h1>
      {section === 'usage' ? <BackLink to={USAGE_PATH}>Usage</BackLink> : null}
      <FilterForm path={path} fields={fieldsOf(query, lists)} button="Search" />
      <Notice>{problem}</Notice>
      <RequestTable
        requests={rows}
        keys={lists.keys}
        accountOf={accountOf}
        pathOf={pathOf}
        empty={
          next === undefined ? 'No request matches.' : 'None of the latest requests match. Look at older requests.'
        }
      />
      <OlderLinks path={path} filter={query} before={before} next={next} />
      <p>
        <a href={pathWith(`${path}/export.csv`, query)}>Download as CSV</a>
      </p>
      <p class="fine">
        Latest first. Running streams appear when they end. Refused requests are a sample: of similar requests in a
        minute, the first 5 and the last are kept, for 7 days.
        {accountOf === undefined
          ? null
          : ' Requests without a known account or key are only counted, on the page Status.'}{' '}
        Prompts and answers are not stored.
      </p>
    </div>
  );
  return { title: 'Requests', section, width: 'wide', style: 'usage.css', script: 'requests.js', content };
}

/** What the fields of the filter offer. */
interface FieldLists {
  readonly models: readonly string[];
  /** The keys of the account. `undefined`: the list is about all accounts. */
  readonly keys?: readonly ListedApiKey[];
  readonly upstreams?: readonly string[];
}

function fieldsOf(query: RequestQuery, { models, keys, upstreams }: FieldLists): readonly FormField[] {
  const { request, account, key, model, outcome, error, upstream } = query;
  const search = { type: 'search' } as const;
  const ofClient: readonly FormField[] =
    keys === undefined
      ? [
          { ...search, label: 'Account', name: 'account', value: account, placeholder: 'email or ID' },
          { ...search, label: 'Key', name: 'key', value: key, maxLength: MAX_KEY_LENGTH, placeholder: 'prefix or ID' },
          { ...search, label: 'Model', name: 'model', suggestions: models, value: model },
        ]
      : [keyField(keys, key), modelField(models, model)];
  return [
    ...periodFields(query),
    { label: 'Request ID', name: 'request', type: 'search', value: request, maxLength: 128 },
    ...ofClient,
    { label: 'Upstream', name: 'upstream', type: 'search', suggestions: upstreams ?? [], value: upstream },
    { label: 'Status', name: 'outcome', type: 'select', options: STATUSES, value: outcome },
    { label: 'Error code', name: 'error', type: 'search', suggestions: Object.keys(ERRORS), value: error },
  ];
}

interface RequestPage {
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
export function receiptPage(stream: ListedStream, { keys, section, account, list, inAllRequests }: RequestPage): Page {
  const { tokens: counts, attempts, errorCode } = stream;
  const content = (
    <div class="usage">
      <h1>Receipt</h1>
      <BackLink to={list}>Requests</BackLink>
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
          ['Started', <LocalTime at={new Date(stream.started_at)} shows="second" />],
          ['Time to first text', secondsBetween(stream.started_at, stream.first_text_at)],
          ['Total time', secondsBetween(stream.started_at, stream.ended_at)],
          ['Input tokens', tokens(counts.input, stream)],
          ['Input tokens read from cache', tokens(counts.cached_input, stream)],
          ['Input tokens written to cache', tokens(counts.cache_write_input, stream)],
          ['Output tokens', tokens(counts.output, stream)],
          ['Reasoning tokens', tokens(counts.reasoning_output, stream)],
          ['Tool calls', stream.tool_calls === null ? 'Unknown' : String(stream.tool_calls)],
          ['Cost', costText(stream)],
        ]}
      />
      <h2>Attempts</h2>
      {attempts.length === 0 ? (
        <p>
          {errorCode === 'upstream_unavailable'
            ? 'No provider was called, because no route of the model was available.'
            : 'No provider was called.'}
        </p>
      ) : (
        <ol>
          {attempts.map((attempt, index) => (
            <Attempt key={index} attempt={attempt} cause={account === undefined ? undefined : stream.causes[index]} />
          ))}
        </ol>
      )}
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

/** The page with the facts about one refused request. */
export function refusalPage(refused: RefusedRequest, { keys, section, account, list }: RequestPage): Page {
  const { requestId, status, errorCode, reason, message, method, route, model, refusedAt, similar } = refused;
  const content = (
    <div class="usage">
      <h1>Refused request</h1>
      <BackLink to={list}>Requests</BackLink>
      <Facts
        facts={[
          ['Request ID', <code>{requestId}</code>],
          ['Status', <span class="badge bad">{`Refused: ${status}`}</span>],
          ['Error', <code>{errorCode}</code>],
          reason !== null && ['Reason', <RefusalReason refused={refused} />],
          message !== null && ['Message', message],
          account !== undefined && ['Account', account],
          ['Key', <KeyName {...refused} keys={keys} />],
          ['Request', <code>{`${method} ${route ?? '(no route)'}`}</code>],
          ['Model', model === null ? 'Unknown' : <code>{model}</code>],
          ['Time', <LocalTime at={new Date(refusedAt)} shows="second" />],
          similar > 0 && ['Similar requests', `${count(similar)} more in the same minute`],
        ]}
      />
      <p class="fine">A refused request costs nothing and has no receipt.</p>
    </div>
  );
  return { title: 'Refused request', section, content, style: 'usage.css' };
}

function costText({ cost, currency, outcome, first_text_at: firstTextAt, tokens: { source } }: ListedStream): string {
  if (cost !== null && currency !== null) return money(cost, currency);
  const isFree = firstTextAt === null && source === 'unknown' && isSeenFailure(outcome);
  return isFree ? 'Nothing: the request failed before any text' : 'Unknown';
}

interface AttemptProps {
  readonly attempt: ListedStream['attempts'][number];
  readonly cause: FailureCause | undefined;
}

function Attempt({ attempt: { upstream, code, duration_ms: ms }, cause }: AttemptProps) {
  return (
    <li>
      <code>{upstream}</code>:{' '}
      {code === undefined ? 'answered' : cause === undefined ? <code>{code}</code> : failureText(code, cause)}
      {ms === null ? '' : `, ${seconds(ms)}`}
    </li>
  );
}
