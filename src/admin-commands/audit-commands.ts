import { AccountsService } from '../accounts/accounts/accounts.service.js';
import { AuditLog, wireEntry } from '../accounts/audit/audit-log.js';
import { auditDay } from '../accounts/audit/audit-day.js';
import { command, type Command } from './command.js';
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
