import { AccountRoles } from '../../src/accounts/accounts/account-roles.js';
import { AccountsService } from '../../src/accounts/accounts/accounts.service.js';
import { SessionsService } from '../../src/accounts/sessions/sessions.service.js';
import type { TestService } from '../../src/testing/service/test-service.js';

/** An account, and the session of a browser that is signed in to the account. */
export interface AccountSession {
  readonly accountId: string;
  readonly email: string;
  readonly sessionId: string;
  /** The name and value of the session cookie. */
  readonly cookie: { readonly name: string; readonly value: string };
}

let accounts = 0;

/** As {@link signedIn}, for an account that is an operator. */
export async function operatorSignedIn(service: Pick<TestService, 'app'>): Promise<AccountSession> {
  const operator = await signedIn(service);
  await service.app.get(AccountRoles, { strict: false }).set({ id: operator.accountId }, 'operator');
  return operator;
}

/** Creates an account and a session for it. */
export async function signedIn({ app }: Pick<TestService, 'app'>, tier?: string): Promise<AccountSession> {
  const email = `person-${++accounts}@example.com`;
  const account = await app
    .get(AccountsService, { strict: false })
    .create({ email, password: 'correct horse battery', tier });
  const { token, sessionId } = await app.get(SessionsService, { strict: false }).create(account.id);
  return { accountId: account.id, email, sessionId, cookie: { name: '__Host-session', value: token } };
}
