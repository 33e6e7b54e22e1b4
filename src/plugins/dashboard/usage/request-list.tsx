import type { ListedApiKey } from '../../../plugin-api/core/accounts.js';
import { ERRORS } from '../../../plugin-api/core/common.js';
import type { TimePage, TimePosition } from '../../../plugin-api/core/database.js';
import type { FoundRequest } from '../requests/request-search.js';
import type { FormField } from '../forms/page-form.js';
import type { Page } from '../layout/layout.js';
import { BackLink, Notice } from '../parts/blocks.js';
import { FilterForm, OlderLinks } from '../parts/lists.js';
import { pathWith } from '../parts/query.js';
import { USAGE_PATH } from '../paths.js';
import { MAX_KEY_LENGTH, STATUSES, type RequestQuery } from './request-finder.js';
import { periodFields } from './request-period.js';
import { RequestTable, type RequestTableProps } from './request-table.js';
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
