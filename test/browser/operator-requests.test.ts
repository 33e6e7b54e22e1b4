import { beforeAll, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { RefusalRecorder } from '../../src/plugins/dashboard/requests/refusal-recorder.js';
import { operatorSignedIn, signedIn, type AccountSession } from '../support/account-session.js';
import { stream } from '../support/sse-client.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { WebStage } from './web-stage.js';

describe.skipIf(!hasChromium)('the requests of all accounts in Chromium', () => {
  const web = WebStage.forSuite({ tiers: { free: { requests_per_minute: 4 } } });
  let operator: AccountSession;
  let ada: AccountSession;

  beforeAll(async () => {
    operator = await operatorSignedIn(web.stage.service);
    ada = await signedIn(web.stage.service);
    const { key, id } = await web.stage.service.app
      .get(ApiKeysService, { strict: false })
      .create(ada.accountId, { name: 'laptop' });
    web.provider.next((call) => {
      call.refuse(500);
    });
    for (let index = 0; index < 14; index++) {
      await stream(web.stage.origin, { key, headers: { 'x-request-id': `from-ada-${index}` } });
    }
    const keys = web.stage.service.app.get(ApiKeysService, { strict: false });
    await keys.revoke(id);
    await stream(web.stage.origin, { key, headers: { 'x-request-id': 'with-revoked-key' } });
    await web.stage.service.app.get(RefusalRecorder, { strict: false }).flush();
  }, 60_000);

  it.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('are found from the navigation, and lead to a receipt or to the reason of a refusal, %s', async (_, scripts) => {
    const { page, complaints } = await web.open('/usage', { account: operator, javaScriptEnabled: scripts });
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Requests' }).click();
    await page.getByLabel('Account').fill(ada.email);
    await page.getByLabel('Status').selectOption({ label: 'Refused' });
    await page.getByRole('button', { name: 'Search' }).click();
    const table = page.getByRole('table', { name: 'Requests, latest first' });
    await table.getByRole('row').filter({ hasText: 'key_revoked' }).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Refused request' }).waitFor();
    await page.getByText('The API key is revoked.').waitFor();
    await page.getByRole('link', { name: '← Requests' }).click();
    await page.getByLabel('Request ID').fill('from-ada-1');
    await page.getByRole('button', { name: 'Search' }).click();
    await table.getByRole('row').nth(1).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Receipt' }).waitFor();
    await page.getByRole('link', { name: ada.email }).click();
    await page.getByRole('heading', { name: ada.email }).waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('have nothing serious wrong with them for axe-core, light and dark, on a phone and wide', async () => {
    const { page, complaints } = await web.open('/operator/requests', { account: operator });
    await page.getByRole('row').filter({ hasText: 'and 4 more' }).waitFor();
    await expectAccessible(page, 'operator-requests');
    await page.getByRole('row').filter({ hasText: 'and 4 more' }).getByRole('link').first().click();
    await page.getByText('4 more in the same minute').waitFor();
    await expectAccessible(page, 'operator-request-refused');
    await page.goto(`${web.origin}/operator/requests?request=from-ada-0`);
    await page.getByRole('table').getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Receipt' }).waitFor();
    await expectAccessible(page, 'operator-request-receipt');
    await page.goto(`${web.origin}/operator/requests?account=nobody@example.com`);
    await page.getByText('No request matches.').waitFor();
    await expectAccessible(page, 'operator-requests-none');
    expect(complaints).toEqual([]);
    await page.context().close();
  }, 120_000);

  it('are linked from an error in the playground, for operators only', async () => {
    for (const [account, links] of [
      [operator, 1],
      [await signedIn(web.stage.service), 0],
    ] as const) {
      web.provider.next((call) => {
        call.refuse(500);
      });
      const { page } = await web.open('/playground', { account });
      await page.getByLabel('Message').fill('Hello!');
      await page.getByLabel('Message').press('Enter');
      await page.getByText('Request ID:').waitFor();
      const link = page.locator('a[href^="/operator/requests?request="]');
      expect(await link.count()).toBe(links);
      if (links === 1) {
        const [tab] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
        await tab.getByText('upstream_error').first().waitFor();
      }
      await page.context().close();
    }
  }, 60_000);
});
