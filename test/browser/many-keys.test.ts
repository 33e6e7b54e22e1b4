import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { signedIn } from '../support/account-session.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { WebStage } from './web-stage.js';

describe.skipIf(!hasChromium)('200 API keys in Chromium', () => {
  let web: WebStage;

  beforeAll(async () => {
    web = await WebStage.set();
  }, 60_000);
  afterAll(() => web.clear());

  it('are found on a phone, active keys first', async () => {
    const person = await signedIn(web.stage.service);
    const keys = web.stage.service.app.get(ApiKeysService, { strict: false });
    for (let index = 0; index < 200; index++) {
      const { id } = await keys.create(person.accountId, { name: `service ${index}` });
      if (index < 110) await keys.revoke(id);
    }
    const { page, complaints } = await web.open('/settings/api-keys', {
      account: person,
      viewport: { width: 390, height: 844 },
    });
    const rows = page.getByRole('table').getByRole('rowheader');
    expect(await rows.count()).toBe(50);
    expect(await page.getByRole('table').getByText('Revoked').count()).toBe(0);
    await expectAccessible(page, 'api-keys-many');
    await page.getByLabel('Search').fill('service 19');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL('**search=service+19**');
    // 190 to 199 are active, 19 is revoked.
    await expect.poll(() => rows.count()).toBe(11);
    expect(await rows.last().innerText()).toBe('service 19');
    await page.getByLabel('State').selectOption('Revoked');
    await page.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => rows.count()).toBe(1);
    expect(complaints).toEqual([]);
    await page.context().close();
  }, 120_000);
});
