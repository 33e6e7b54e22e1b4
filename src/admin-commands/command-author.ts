import { hostname, userInfo } from 'node:os';
import type { ChangeAuthor } from '../accounts/audit/audit-log.js';

/** The author of the changes of the admin command, for the audit log: the user of the system, and the host. */
export const COMMAND: ChangeAuthor = { actor: 'command', source: `${userName()}@${hostname()}` };

/** In a container, the user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? ''}`.trim();
  }
}
