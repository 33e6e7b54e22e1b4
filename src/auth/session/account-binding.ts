import type { IncomingMessage } from 'node:http';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { ServiceError } from '../../common/service-error.js';

/** Scripts of pages name in this header the account for which the page was made. */
const HEADER = 'x-account-id';

/**
 * Another tab of the browser can sign in to another account. The cookie is then the cookie of that account, but the page still
 * shows the old one. Returns the error that refuses such a request, so that no account pays for the conversation of another.
 *
 * @param boundAccountId the id of the account for which the page was made. `undefined` for programs that are not a page.
 */
export function accountMismatch(
  boundAccountId: string | undefined,
  { account }: VerifiedSession,
): ServiceError | undefined {
  if (boundAccountId === undefined || boundAccountId === account.id) return undefined;
  return new ServiceError(
    'account_mismatch',
    `You are signed in as ${account.email} now. This page was opened for another account.`,
  );
}

export const boundAccountIn = ({ headers }: IncomingMessage): string | undefined => headers[HEADER]?.toString();
