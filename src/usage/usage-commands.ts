import type { Command } from '../accounts/account-commands.js';
import { AccountsService } from '../accounts/accounts.service.js';
import { ServiceError } from '../common/service-error.js';
import { usagePeriod } from './usage-period.js';
import { UsageReports, type AccountUsageRow } from './usage-reports.js';

/** The commands about what was used. */
export const USAGE_COMMANDS: readonly Command[] = [
  {
    name: 'usage',
    required: {},
    optional: { email: 'E', from: 'YYYY-MM-DD', to: 'YYYY-MM-DD', format: 'json|csv' },
    run: async (app, { email, from, to, format = 'json' }) => {
      const period = usagePeriod({ from, to }, Date.now());
      if (format !== 'json' && format !== 'csv') {
        throw new ServiceError('invalid_request', '--format must be json or csv.');
      }
      const accounts = app.get(AccountsService);
      const asked = email === undefined ? undefined : await accounts.findByEmail(email);
      if (email !== undefined && asked === undefined) {
        throw new ServiceError('not_found', `There is no account "${email}".`);
      }
      const rows = await app.get(UsageReports).dailyOfAll(period.from, period.to, asked?.id);
      const emails = await accounts.emailsOf([...new Set(rows.map(({ accountId }) => accountId))]);
      const lines = rows.map((row) => lineOf(row, emails.get(row.accountId)));
      return format === 'json' ? lines : csvOf(lines);
    },
  },
];

const COLUMNS = [
  'day',
  'account_id',
  'email',
  'model',
  'key_id',
  'key_prefix',
  'requests',
  'completed',
  'errors',
  'prompt_tokens',
  'completion_tokens',
  'tokens_unknown',
  'cost',
  'currency',
] as const;

type Line = Readonly<Record<(typeof COLUMNS)[number], string | number | null>>;

/** @param email `undefined` for an account that is gone. */
function lineOf(row: AccountUsageRow, email: string | undefined): Line {
  return {
    day: row.day,
    account_id: row.accountId,
    email: email ?? null,
    model: row.model,
    key_id: row.keyId,
    key_prefix: row.keyPrefix,
    requests: row.requests,
    completed: row.completed,
    errors: row.errors,
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    tokens_unknown: row.tokensUnknown,
    cost: row.cost ?? null,
    currency: row.currency,
  };
}

/** RFC 4180. */
function csvOf(lines: readonly Line[]): string {
  const rows = lines.map((line) => COLUMNS.map((column) => cellOf(line[column])).join(','));
  return [COLUMNS.join(','), ...rows].join('\r\n');
}

/** A spreadsheet would take what begins like a formula for one: an apostrophe keeps it text. */
function cellOf(value: string | number | null): string {
  if (typeof value !== 'string') return String(value ?? '');
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
