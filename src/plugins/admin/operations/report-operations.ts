import { AccountsService, ApiKeysService, auditDay, AuditLog, wireEntry } from '../../../plugin-api/core/accounts.js';
import {
  type DaySumsPosition,
  ORDER_OF_ALL,
  ReportSemaphore,
  UsageCounts,
  usagePeriod,
  UsageReports,
  wireAccountUsage,
} from '../../../plugin-api/core/usage.js';
import {
  operation,
  type ApiInput,
  limitIn,
  pageByPosition,
  pageOf,
  parametersIn,
  positionIn,
  valuesIn,
} from './operation.js';
import * as schema from './schemas.js';

const VALUES = schema.nullable({ type: 'object', additionalProperties: true });

const AUDIT_ENTRY = schema.object('AuditEntry', {
  id: schema.TEXT,
  at: schema.TIME,
  actor: { ...schema.TEXT, description: 'Who made the change.', example: 'operator-key:5f0f3b6c-… (portal)' },
  action: { ...schema.TEXT, example: 'key.created' },
  target: { ...schema.TEXT, description: 'What was changed.', example: 'key:0b6e7a52-…' },
  source: schema.nullable({ ...schema.TEXT, description: 'The address of the client, or the user of a command.' }),
  before: { ...VALUES, description: 'The changed values before the change.' },
  after: { ...VALUES, description: 'The changed values after the change.' },
});

const AUDIT_FILTERS = {
  account_id: 'The account that was changed, or whose key or session was changed.',
  action: 'Such as `key.created`.',
  from: 'The first day, in UTC.',
  to: 'The last day, in UTC.',
} as const;

export const listAuditEntries = operation({
  id: 'listAuditEntries',
  route: 'GET audit',
  summary: 'Lists the entries of the audit log, newest first',
  answer: schema.page('AuditPage', AUDIT_ENTRY),
  filters: AUDIT_FILTERS,
  async run({ get, query, operatorId }: ApiInput) {
    const { account_id: accountId, action, limit, cursor, ...days } = parametersIn(query, AUDIT_FILTERS);
    const filter = { accountId, action, from: auditDay(days.from, 'from'), to: auditDay(days.to, 'to') };
    const [position, most] = [positionIn(cursor), limitIn(limit)];
    const list = () => get(AuditLog).page(filter, position, most);
    const { entries, next } = await get(ReportSemaphore).run(operatorId, list);
    return pageByPosition(
      entries.map((entry) => ({ id: entry.id, ...wireEntry(entry) })),
      next,
    );
  },
});

const USAGE = schema.object(
  'AdminUsage',
  {
    day: { ...schema.TEXT, format: 'date', description: 'The UTC day on which the streams started.' },
    account_id: schema.TEXT,
    email: schema.nullable({ ...schema.TEXT, description: '`null` for a deleted account.' }),
    model: schema.TEXT,
    key_id: schema.nullable({ ...schema.TEXT, description: '`null` for requests without an API key.' }),
    key_prefix: schema.nullable(schema.PREFIX),
    key_name: schema.nullable({ ...schema.TEXT, description: '`null` also for a key of a deleted account.' }),
    currency: schema.nullable({ ...schema.TEXT, example: 'USD' }),
  },
  UsageCounts,
);

const USAGE_FILTERS = {
  from: 'The first day, in UTC. Default: 29 days before the last day.',
  to: 'The last day, in UTC. Default: today.',
  account_id: 'Only this account, which may be deleted.',
  key_id: 'Only this API key.',
  model: 'Only this model.',
} as const;

export const listUsage = operation({
  id: 'listUsage',
  route: 'GET usage',
  summary: 'Lists the usage by day, account, model and key, oldest day first',
  answer: schema.page('AdminUsagePage', USAGE),
  filters: USAGE_FILTERS,
  async run({ get, query, now, operatorId }: ApiInput) {
    const { limit, cursor, from, to, ...filter } = parametersIn(query, USAGE_FILTERS);
    const period = { ...usagePeriod({ from, to }, now()), accountId: filter.account_id };
    const [position, most] = [sumsPositionIn(cursor), limitIn(limit)];
    return get(ReportSemaphore).run(operatorId, async () => {
      const { rows, next } = await get(UsageReports).page(period, position, most);
      const found = rows.filter(
        ({ keyId, model }) => keyId === (filter.key_id ?? keyId) && model === (filter.model ?? model),
      );
      const emails = await get(AccountsService).emailsOf([...new Set(found.map(({ accountId }) => accountId))]);
      const keyNames = await get(ApiKeysService).namesOf([...new Set(found.flatMap(({ keyId }) => keyId ?? []))]);
      const data = found.map((row) => ({
        ...wireAccountUsage(row, emails.get(row.accountId)),
        key_name: keyNames.get(row.keyId ?? '') ?? null,
      }));
      return pageOf(data, next && ORDER_OF_ALL.map((column) => next[column]));
    });
  },
});

/** @throws {ServiceError} `invalid_request` for a text that is no cursor of this list. */
function sumsPositionIn(cursor: string | undefined): DaySumsPosition | undefined {
  const values = valuesIn(cursor, ORDER_OF_ALL.length);
  if (values === undefined) return undefined;
  return Object.fromEntries(ORDER_OF_ALL.map((column, index) => [column, values[index]])) as DaySumsPosition;
}
