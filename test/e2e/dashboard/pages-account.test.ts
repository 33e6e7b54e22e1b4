import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { browserClient } from '../../support/browser-client.js';
import { startService, type RunningService } from '../../support/service.js';
import { EMAIL } from '../../support/web-client.js';
import { PASSWORD } from '../../support/usual-password.js';

const PATH = '/settings/account';

describe('the page of an account', () => {
  let service: RunningService;

  beforeAll(async () => {
    service = await startService({ tiers: { free: { requests_per_minute: 20, max_tokens: 4096 } } });
    await browserClient(service.origin).signUp();
  });
  afterAll(() => service.stop());

  const signedIn = async (password = PASSWORD) => {
    const client = browserClient(service.origin);
    expect((await client.signIn(EMAIL, password)).status).toBe(303);
    return client;
  };

  it('shows the address, the tier and its limits, on every page the way out', async () => {
    const html = await (await (await signedIn()).get(PATH)).body();
    expect(html).toMatch(/<dt>Email<\/dt><dd>ada@example\.com<\/dd><dt>Tier<\/dt><dd>free<\/dd>/);
    expect(html).toMatch(/Requests per minute<\/dt><dd>20<\/dd>.*<dd>No limit<\/dd>.*<dd>4,096<\/dd>/);
    expect(html).toMatch(/<header.*ada@example\.com.*free.*<form method="post" action="\/sign-out">.*<\/header>/s);
  });

  it.each([
    [{ current_password: 'a wrong guess', new_password: 'quite another one' }, 'The current password is incorrect.'],
    [{ current_password: PASSWORD, new_password: 'short' }, 'must have 8 to 1024 characters.'],
    [{}, 'must have 8 to 1024 characters.'],
  ])('does not change the password by %j', async (fields, message) => {
    const client = await signedIn();
    const answer = await client.postForm(`${PATH}/password`, fields);
    expect([answer.status, (await answer.body()).includes(message)]).toEqual([400, true]);
    expect((await client.get(PATH)).status).toBe(200);
    await signedIn();
  });

  it('revokes the API keys together with the change when the box is checked, and says how many', async () => {
    const email = 'grace@example.com';
    const client = browserClient(service.origin);
    await client.signUp(email);
    const keys = service.app.get(ApiKeysService, { strict: false });
    const id = (await service.app.get(AccountsService, { strict: false }).findByEmail(email))?.id ?? '';
    for (const name of ['one', 'two']) await keys.create(id, { name });
    expect(await (await client.get(PATH)).body()).toMatch(/<label[^>]*><input type="checkbox"[^>]* name="revoke_keys"/);

    const wrong = await client.postForm(`${PATH}/password`, {
      current_password: 'a wrong guess',
      new_password: 'quite another one',
      revoke_keys: 'yes',
    });
    expect([wrong.status, / name="revoke_keys"[^>]* checked/.test(await wrong.body())]).toEqual([400, true]);
    expect((await keys.list(id)).map(({ revokedAt }) => revokedAt)).toEqual([null, null]);

    const fields = { current_password: PASSWORD, new_password: 'quite another one', revoke_keys: 'yes' };
    const answer = await client.postForm(`${PATH}/password`, fields);
    expect([answer.status, answer.headers.location]).toEqual([303, `${PATH}?done=password&revoked=2`]);
    expect(await (await client.get(answer.headers.location ?? '')).body()).toContain('2 API keys were revoked.');
    expect((await keys.list(id)).every(({ revokedAt }) => revokedAt !== null)).toBe(true);

    for (const odd of ['x', '-1', '99999', '<b>', '1&revoked=2']) {
      const page = await client.get(`${PATH}?done=password&revoked=${odd}`);
      expect([page.status, (await page.body()).includes('revoked.')]).toEqual([200, false]);
    }
  });

  it('changes the password, and ends the sessions of all other browsers', async () => {
    const other = await signedIn();
    const client = await signedIn();
    const next = 'quite another one';
    const answer = await client.postForm(`${PATH}/password`, { current_password: PASSWORD, new_password: next });
    expect([answer.status, answer.headers.location]).toEqual([303, `${PATH}?done=password`]);
    expect(await (await client.get(`${PATH}?done=password`)).body()).toContain('Your password was changed.');
    expect((await other.get(PATH)).status).toBe(303);
    expect((await browserClient(service.origin).signIn()).status).toBe(401);
    await signedIn(next);
  });
});
