import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { Session } from '../../../src/accounts/sessions/session.entity.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { Latch } from '../../support/latch.js';
import { startService, type RunningService } from '../../support/service.js';
import { SignInPagesModule } from '../../support/sign-in-pages.js';
import { waitFor } from '../../support/wait-for.js';
import { EMAIL, WebClient } from '../../support/web-client.js';
import { PASSWORD } from '../../support/usual-password.js';

let service: RunningService;

beforeAll(async () => {
  service = await startService({ modules: [SignInPagesModule] });
  await new WebClient(service.origin).signUp();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => service.stop());

it('a password that changes between the comparison and the session: the sign-in fails', async () => {
  const [accounts, sessions] = [AccountsService, SessionsService].map((type) =>
    service.app.get<AccountsService | SessionsService>(type, { strict: false }),
  ) as [AccountsService, SessionsService];
  const latch = new Latch();
  const create = sessions.create.bind(sessions);
  const made = vi.spyOn(sessions, 'create').mockImplementation(async (accountId) => {
    await latch.opened;
    return create(accountId);
  });
  const client = new WebClient(service.origin);
  const answer = client.signIn();
  await waitFor(() => made.mock.calls.length === 1, 'the password to be compared');
  const account = await accounts.findByEmail(EMAIL);
  await accounts.changePassword(account?.id ?? '', PASSWORD, 'another horse battery', { network: '' });

  latch.open();

  expect((await answer).status).toBe(401);
  expect(client.cookie).toBeUndefined();
  expect(await client.email()).toBeNull();
  const rows = service.app.get<Repository<Session>>(getRepositoryToken(Session), { strict: false });
  expect(await rows.countBy({ accountId: account?.id ?? '' })).toBe(0);
});
