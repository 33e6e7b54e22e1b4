import { DataSource } from 'typeorm';
import { beforeAll, describe, expect, it } from 'vitest';
import { AccountStates } from '../../src/accounts/accounts/account-states.js';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { testUsageRecord } from '../support/usage-records.js';
import { UsageStore } from '../../src/usage/store/usage-store.js';
import { operatorSignedIn, signedIn, type AccountSession } from '../support/account-session.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { WebStage } from './web-stage.js';

const DAY_MS = 86_400_000;
const LOOKING_MS = 120_000;
const price = { inputPerMillion: 0.5, outputPerMillion: 2, currency: 'USD' };
const LONG = 'somebody-with-a-very-long-name.of-the-department-of-long-names@mail.subsidiary.example-company.com';

describe.skipIf(!hasChromium)('the pages of operators in Chromium', () => {
  const web = WebStage.forSuite({
    price: { input_per_million: 0.5, output_per_million: 2 },
    tiers: {
      free: { requests_per_minute: 20, concurrent_streams: 2, max_tokens: 4096, tokens_per_day: 2_000_000 },
      pro: { requests_per_minute: 600, concurrent_streams: 50 },
    },
    webhooks: { portal: { url: 'http://127.0.0.1:9', secret: `whsec_${'A'.repeat(32)}` } },
  });
  let operator: AccountSession;
  let busy: AccountSession;

  beforeAll(async () => {
    const { app } = web.stage.service;
    operator = await operatorSignedIn(web.stage.service);
    const people: AccountSession[] = [];
    for (let index = 0; index < 60; index++) {
      people.push(await signedIn(web.stage.service, index % 3 === 0 ? 'pro' : 'free'));
    }
    busy = people.at(-1) as AccountSession;
    await app
      .get(DataSource)
      .query(`UPDATE accounts SET email = '${LONG}' WHERE id = '${(people.at(-2) as AccountSession).accountId}'`);
    for (const person of people.slice(0, 4)) {
      await app.get(AccountStates, { strict: false }).disable({ id: person.accountId });
    }
    const keys = app.get(ApiKeysService, { strict: false });
    for (let index = 0; index < 5; index++) {
      const { id } = await keys.create(busy.accountId, { name: `service ${index}` });
      if (index === 4) await keys.revoke(id);
    }
    const records = people.slice(20).flatMap(({ accountId }, person) =>
      Array.from({ length: 12 }, (_, index) =>
        testUsageRecord({
          accountId,
          startedAt: Date.now() - ((index * 5) % 30) * DAY_MS,
          price,
          costMicros: (person + 1) * (index + 1) * 1300,
        }),
      ),
    );
    for (let start = 0; start < records.length; start += 400) {
      await app.get(UsageStore, { strict: false }).append(records.slice(start, start + 400));
    }
  }, 60_000);

  describe.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('%s', (_, javaScriptEnabled) => {
    it('lead from the navigation to an account, disable it after a confirmation, and enable it again', async () => {
      const person = await signedIn(web.stage.service);
      const { page, complaints } = await web.open('/usage', { account: operator, javaScriptEnabled });
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Accounts' }).click();
      await page.getByLabel('Search').fill(person.email);
      await page.getByRole('button', { name: 'Apply' }).click();
      const row = page.getByRole('table', { name: 'Accounts' }).getByRole('row').filter({ hasText: person.email });
      await row.getByRole('button', { name: 'Disable' }).click();
      await page.getByRole('heading', { name: `Disable ${person.email}?` }).waitFor();
      await page.getByRole('button', { name: 'Disable' }).click();
      expect(await page.getByRole('status').innerText()).toBe('The account was disabled.');
      await page.getByRole('button', { name: 'Enable account' }).click();
      expect(await page.getByRole('status').innerText()).toBe('The account was enabled.');
      await page.getByLabel('Tier').selectOption('pro');
      await page.getByRole('button', { name: 'Change tier' }).click();
      expect(await page.getByRole('status').innerText()).toBe('The tier was changed.');
      expect(await page.getByLabel('Tier').inputValue()).toBe('pro');
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('create a key for an account, which is shown once, and edit it', async () => {
      const person = await signedIn(web.stage.service);
      const path = `/operator/accounts/${person.accountId}`;
      const { page, complaints } = await web.open(path, { account: operator, javaScriptEnabled });
      await page.getByRole('link', { name: 'New key' }).click();
      await page.getByLabel('Name').fill('ci');
      await page.getByText('Models, limits and budget').click();
      await page.getByLabel('Budget', { exact: true }).fill('5');
      if (javaScriptEnabled) await expectAccessible(page, 'operator-new-key');
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByText('it is shown only once').waitFor();
      const key = await page.locator('#new-key').innerText();
      if (javaScriptEnabled) await expectAccessible(page, 'operator-key-shown');
      await page.getByRole('link', { name: 'Done' }).click();
      const row = page.getByRole('table', { name: 'API keys' }).getByRole('row').filter({ hasText: 'ci' });
      await row.getByText(/of \$5\.00 per month/).waitFor();
      expect(await page.content()).not.toContain(key);
      await row.getByRole('button', { name: 'Edit' }).click();
      await page.getByLabel('Requests per minute').fill('60');
      await page.getByRole('button', { name: 'Save' }).click();
      expect(await page.getByRole('status').innerText()).toBe('The key was changed.');
      if (javaScriptEnabled) await expectAccessible(page, 'operator-account-with-key');
      expect(complaints).toEqual([]);
      await page.context().close();
    }, 60_000);
  });

  it('create an account, change its role, and delete it after a confirmation', async () => {
    const { page, complaints } = await web.open('/operator/accounts', { account: operator });
    const status = () => page.getByRole('status').innerText();
    await page.getByRole('link', { name: 'New account' }).click();
    await page.getByLabel('Email').fill('new@example.com');
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByLabel('Tier').selectOption('pro');
    await expectAccessible(page, 'operator-new-account');
    await page.getByRole('button', { name: 'Create account' }).click();
    expect(await status()).toBe('The account was created.');
    await page.getByRole('link', { name: 'Make operator' }).click();
    await page.getByRole('button', { name: 'Make operator' }).click();
    expect(await status()).toBe('The role was changed.');
    await page.getByRole('link', { name: 'Make member' }).waitFor();
    await page.getByRole('link', { name: 'Delete account' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    expect(await status()).toBe('The account was deleted.');
    await page.getByLabel('Search').fill('new@example.com');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('No account matches.').waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  }, 120_000);

  it('invite a person by a link, who creates the account with it, and revoke another invitation', async () => {
    const { page, complaints } = await web.open('/operator/accounts', { account: operator });
    for (const name of ['invited', 'revoked']) {
      await page.getByRole('button', { name: 'Invite' }).click();
      await page.getByLabel('Email').fill(`${name}@example.com`);
      await page.getByLabel('Tier').selectOption('pro');
      await page.getByLabel('Link expires after').selectOption('1 day');
      if (name === 'invited') await expectAccessible(page, 'operator-invite');
      await page.getByRole('button', { name: 'Create invitation' }).click();
      await page.getByText('Copy the link now: it is shown only once.').waitFor();
      if (name === 'revoked') await page.getByRole('link', { name: 'Done' }).click();
      else {
        await expectAccessible(page, 'operator-invitation-link');
        expect(await page.getByText('The link works once.').innerText()).toMatch(
          /^The link works once\. It expires on \d+ \w+ \d+, \d\d:\d\d UTC\.$/,
        );
        const link = await page.locator('#new-link').innerText();
        const { page: visitor } = await web.visit(link);
        await visitor.getByText('invited@example.com').waitFor();
        await expectAccessible(visitor, 'invitation');
        await visitor.getByLabel('New password').fill('correct horse battery');
        await visitor.getByRole('button', { name: 'Create account' }).click();
        await visitor.getByRole('link', { name: 'Account invited@example.com' }).waitFor();
        await visitor.context().close();
        // The page with the link leads back to the list when it is loaded again, and does not create another link.
        await page.reload();
        await page.getByRole('heading', { name: 'Accounts', exact: true }).waitFor();
      }
    }
    await expectAccessible(page, 'operator-accounts-invitations');
    const open = page.getByRole('table', { name: 'Open invitations' });
    expect(await open.getByRole('rowheader').allInnerTexts()).toEqual(['revoked@example.com']);
    await open.getByRole('button', { name: 'Revoke' }).click();
    expect(await page.getByRole('status').first().innerText()).toBe('The invitation was revoked.');
    expect(await open.count()).toBe(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  }, 120_000);

  it('create a link with which a user chooses a new password, and revoke it', async () => {
    const person = await signedIn(web.stage.service);
    const { page, complaints } = await web.open(`/operator/accounts/${person.accountId}`, { account: operator });
    await page.getByRole('link', { name: 'Reset password' }).click();
    await expectAccessible(page, 'operator-reset-password');
    await page.getByRole('button', { name: 'Create link' }).click();
    const link = await page.locator('#new-link').innerText();
    const { page: visitor } = await web.visit(link);
    await expectAccessible(visitor, 'new-password');
    await visitor.getByLabel('New password').fill('another horse battery');
    await visitor.getByRole('button', { name: 'Set password' }).click();
    await visitor.getByRole('link', { name: `Account ${person.email}` }).waitFor();
    await visitor.context().close();
    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'Reset password' }).click();
    await page.getByRole('button', { name: 'Create link' }).click();
    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Revoke link for a new password' }).click();
    expect(await page.getByRole('status').first().innerText()).toBe('The link for a new password was revoked.');
    expect(complaints).toEqual([]);
    await page.context().close();
  }, 120_000);

  it('show 200 keys of an account folded and in pages, after the limits and the usage', async () => {
    const person = await signedIn(web.stage.service);
    const keys = web.stage.service.app.get(ApiKeysService, { strict: false });
    for (let index = 0; index < 200; index++) {
      const limits = index === 199 ? { requestsPerMinute: 60, budgetMicros: 5_000_000 } : undefined;
      const { id } = await keys.create(person.accountId, { name: `service ${index}`, limits });
      if (index < 110) await keys.revoke(id);
    }
    const { page, complaints } = await web.open(`/operator/accounts/${person.accountId}`, { account: operator });
    expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
      'Limits free',
      'Usage',
      'API keys',
      'Manage',
    ]);
    const limits = page.getByRole('table', { name: 'Limits and remaining quota' });
    expect(await limits.getByRole('row').nth(1).innerText()).toMatch(/Requests per minute\s+20/);
    const rows = page.getByRole('table', { name: 'API keys' }).getByRole('rowheader');
    expect(await rows.first().isVisible()).toBe(false);
    await expectAccessible(page, 'operator-account-many-keys');
    await page.getByText('200 keys, active keys first').click();
    expect(await rows.count()).toBe(50);
    expect(await rows.first().isVisible()).toBe(true);
    await page.getByText('$0.00 of $5.00 per month').waitFor();
    await page.getByText('60 requests per minute').waitFor();
    await expectAccessible(page, 'operator-account-keys');
    const onFirstPage = await rows.allInnerTexts();
    await page.getByRole('link', { name: 'Older →' }).click();
    await page.waitForURL('**page=2**');
    // Keys of the same millisecond have no order that the test knows.
    expect(onFirstPage).not.toContain(await rows.first().innerText());
    expect(await rows.first().isVisible()).toBe(true);
    expect(complaints).toEqual([]);
    await page.context().close();
  }, 120_000);

  it(
    'have nothing serious wrong with them for axe-core, light and dark, on a phone and wide',
    async () => {
      const { page, complaints } = await web.open('/operator/accounts', { account: operator });
      await expectAccessible(page, 'operator-accounts');
      await page.goto(`${web.origin}/operator/accounts?search=nobody`);
      await expectAccessible(page, 'operator-accounts-none');
      await page.goto(`${web.origin}/operator/accounts/${busy.accountId}?done=tier`);
      await expectAccessible(page, 'operator-account');
      await page.goto(`${web.origin}/operator/accounts/${busy.accountId}/disable`);
      await expectAccessible(page, 'operator-disable');
      await page.goto(`${web.origin}/operator/accounts?state=disabled`);
      await page.getByRole('table', { name: 'Accounts' }).getByRole('link').first().click();
      await page.getByRole('button', { name: 'Enable account' }).waitFor();
      await expectAccessible(page, 'operator-account-disabled');
      await page.goto(`${web.origin}/operator/accounts/${operator.accountId}`);
      await expectAccessible(page, 'operator-account-own');
      await page.goto(`${web.origin}/operator/audit?action=account.created`);
      await page.getByRole('cell', { name: 'account.created' }).first().waitFor();
      await expectAccessible(page, 'operator-audit');
      await page.goto(`${web.origin}/operator/keys`);
      await page.getByLabel('Name').fill('portal');
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByText('it is shown only once').waitFor();
      await expectAccessible(page, 'operator-keys-new');
      await page.getByRole('link', { name: 'Done' }).click();
      await page.getByRole('row').filter({ hasText: 'portal' }).getByText('Active').waitFor();
      await expectAccessible(page, 'operator-keys');
      const { key: token } = await web.stage.service.createKey();
      await fetch(`${web.stage.origin}/api/v1/keys/leaked`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify([{ token, type: 'chat_key', url: 'https://example.com/leak' }]),
      });
      await page.goto(`${web.origin}/operator/webhooks`);
      await page.getByRole('row').filter({ hasText: 'key.leaked' }).waitFor();
      await expectAccessible(page, 'operator-webhooks');
      expect(complaints).toEqual([]);
      await page.context().close();
    },
    LOOKING_MS,
  );
});
