import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

  it.each(['x', '-1', '99999', '<b>', '1&revoked=2'])('reports no number of revoked keys for %s', async (odd) => {
    const page = await (await signedIn()).get(`${PATH}?done=password&revoked=${odd}`);
    expect([page.status, (await page.body()).includes('revoked.')]).toEqual([200, false]);
  });
});
