import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { accountMismatch } from '../../auth/session/made-for.js';

/** The field that names the account for which a form was made. */
export interface MadeForField {
  readonly account_id?: string;
}

/** The hidden field of a form that changes something in the account. */
export function MadeFor({ accountId }: { readonly accountId: string }) {
  return <input type="hidden" name="account_id" value={accountId} />;
}

/** @throws {ServiceError} `account_mismatch` if another tab has signed in to another account since the form was made. */
export function expectMadeFor({ account_id: accountId }: MadeForField, session: VerifiedSession): void {
  const mismatch = accountMismatch(accountId, session);
  if (mismatch !== undefined) throw mismatch;
}
