import type { AccountSession } from './account-session.js';
import { browserClient } from './browser-client.js';
import type { WebClient } from './web-client.js';

/** A browser without scripts in which the account is signed in. */
export function browserOf(origin: string, { accountId, cookie }: AccountSession): WebClient {
  const client = browserClient(origin);
  client.cookie = `${cookie.name}=${cookie.value}`;
  client.accountId = accountId;
  return client;
}
