import { AccountsService } from '../accounts/accounts/accounts.service.js';
import { AuditLog, wireEntry, type AuditEntry } from '../accounts/audit/audit-log.js';
import { auditDay } from '../accounts/audit/audit-day.js';
import { command, type Command } from './command.js';

/** The commands about the audit log. */
export const AUDIT_COMMANDS: readonly Command[] = [
  command({
    name: 'audit',
    required: {},
    optional: { email: 'E', action: 'A', from: 'YYYY-MM-DD', to: 'YYYY-MM-DD' },
    run: async (app, { email, action, from, to }) => {
      const filter = { action, from: auditDay(from, 'from'), to: auditDay(to, 'to') };
      const accountId = email === undefined ? undefined : (await app.get(AccountsService).get(email)).id;
      return json(app.get(AuditLog).pages({ ...filter, accountId }));
    },
  }),
];

/** Returns one array in pieces, because there may be many entries. */
async function* json(pages: AsyncIterable<readonly AuditEntry[]>): AsyncIterable<string> {
  let before = '[';
  for await (const entries of pages) {
    for (const entry of entries) {
      yield before + JSON.stringify(wireEntry(entry));
      before = ',';
    }
  }
  yield before === '[' ? '[]' : ']';
}
