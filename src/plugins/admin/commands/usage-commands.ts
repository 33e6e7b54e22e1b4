import { AccountsService, auditDay, AuditLog, wireEntry } from '../../../plugin-api/core/accounts.js';
import { csvCell, ServiceError } from '../../../plugin-api/core/common.js';
import {
  type AccountUsageRow,
  USAGE_FIGURES,
  usagePeriod,
  UsageReports,
  wireAccountUsage,
} from '../../../plugin-api/core/usage.js';
import { command, type Command } from './command.js';
import { accountOf } from './key-commands.js';
import { jsonArray } from './printed-result.js';

/** The commands about the audit log. */
export const AUDIT_COMMANDS: readonly Command[] = [
  command({
    name: 'audit',
    optional: { email: 'E', action: 'A', from: 'YYYY-MM-DD', to: 'YYYY-MM-DD' },
    run: async (app, { email, action, from, to }) => {
      const filter = { action, from: auditDay(from, 'from'), to: auditDay(to, 'to') };
      const accountId = email === undefined ? undefined : (await app.get(AccountsService).get(email)).id;
      return jsonArray(app.get(AuditLog).pages({ ...filter, accountId }), wireEntry);
    },
  }),
];

/** The commands that report usage. */
export const USAGE_COMMANDS: readonly Command[] = [
  command({
    name: 'usage',
    optional: { email: 'E', from: 'YYYY-MM-DD', to: 'YYYY-MM-DD', format: 'json|csv' },
    run: async (app, { email, from, to, format = 'json' }) => {
      const period = usagePeriod({ from, to }, Date.now());
      if (format !== 'json' && format !== 'csv') {
        throw new ServiceError('invalid_request', '--format must be json or csv.');
      }
      const accounts = app.get(AccountsService);
      const account = email === undefined ? undefined : await accountOf(app, email);
      const pages = app.get(UsageReports).pages(period.from, period.to, account?.id);
      const lines = linesOf(pages, accounts);
      return format === 'json' ? jsonArray(lines, (line) => line) : csv(lines);
    },
  }),
];

const COLUMNS = ['day', 'account_id', 'email', 'model', 'key_id', 'key_prefix', ...USAGE_FIGURES] as const;

type Line = Readonly<Record<(typeof COLUMNS)[number], string | number | null>>;

type Pages<T> = AsyncIterable<readonly T[]>;

async function* linesOf(pages: Pages<AccountUsageRow>, accounts: AccountsService): Pages<Line> {
  for await (const rows of pages) {
    const emails = await accounts.emailsOf([...new Set(rows.map(({ accountId }) => accountId))]);
    yield rows.map((row) => wireAccountUsage(row, emails.get(row.accountId)));
  }
}

/** Returns CSV (RFC 4180) in pieces. */
async function* csv(pages: Pages<Line>): AsyncIterable<string> {
  yield COLUMNS.join(',');
  for await (const lines of pages) {
    for (const line of lines) yield `\r\n${COLUMNS.map((column) => csvCell(line[column])).join(',')}`;
  }
}
