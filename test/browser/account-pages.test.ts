import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { configFile, routesTo } from '../support/catalog.js';
import { Installation } from '../support/process.js';
import { retryWhileOverloaded } from '../support/retry-while-overloaded.js';
import { stream } from '../support/sse-client.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium, launchChromium } from './chromium.js';
import { complaintsOf } from './watched-page.js';

const PASSWORD = 'seven green parrots';
const KEY = /^csk_[0-9A-Za-z]{49}$/;
/** Pictures in four forms, each looked at by axe-core, on a machine that does other things, too. */
const LOOKING_MS = 120_000;

describe.skipIf(!hasChromium)('the pages of an account, in Chromium', () => {
  let provider: ScriptedProvider;
  let installation: Installation;
  let browser: Browser;
  let origin: string;
  let visitors = 0;

  beforeAll(async () => {
    provider = await ScriptedProvider.start();
    provider.answers((call) => {
      call.answer('Hi');
    });
    installation = await Installation.create(configFile(routesTo([provider])));
    origin = await installation.start({ SIGN_UP: 'open' }).origin();
    browser = await launchChromium();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await installation.remove();
    await provider.stop();
  });

  const signUp = async (page: Page) => {
    const email = `visitor-${++visitors}@example.com`;
    await page.goto(`${origin}/sign-up?next=/settings/api-keys`);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    return email;
  };
  const createKey = async (page: Page, name: string) => {
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Create key' }).click();
    return page.locator('#new-key').innerText();
  };
  const statusWith = async (key: string) =>
    (await retryWhileOverloaded(() => stream(origin, { key, body: { model: 'acme/fast' } }))).status;
  const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

  describe.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('%s', (_, javaScriptEnabled) => {
    let context: BrowserContext;
    let page: Page;
    let complaints: string[];

    beforeEach(async () => {
      context = await browser.newContext({ javaScriptEnabled });
      page = await context.newPage();
      complaints = complaintsOf(page);
    });
    afterEach(() => context.close());

    it('lead from a page through sign-in back to it, and out again', async () => {
      const email = await signUp(page);
      await page.getByRole('banner').getByText(email).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL(`${origin}/sign-in`);
      expect(await context.cookies()).toEqual([]);

      await page.goto(`${origin}/settings/account`);
      await page.getByLabel('Email').fill(email);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(`${origin}/settings/account`);
      expect(await page.getByRole('main').innerText()).toContain(email);
      expect(complaints).toEqual([]);
    });

    it('make a key that works, show it once, and revoke it', async () => {
      await signUp(page);
      const key = await createKey(page, 'laptop');
      expect(key).toMatch(KEY);
      expect(await statusWith(key)).toBe(200);
      expect(await page.locator('#try-it').innerText()).toContain(key);
      await page.goto(`${origin}/settings/api-keys`);
      expect(await page.getByRole('main').innerText()).not.toContain(key);
      expect(await rowOf(page, 'laptop').innerText()).toContain('Active');

      await rowOf(page, 'laptop').getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('heading', { name: 'Revoke “laptop”?' }).waitFor();
      expect(await statusWith(key)).toBe(200);
      await page.getByRole('button', { name: 'Revoke' }).click();
      expect(await page.getByRole('status').innerText()).toBe('The key was revoked.');
      expect(await rowOf(page, 'laptop').innerText()).toContain('Revoked');
      expect(await rowOf(page, 'laptop').getByRole('button').count()).toBe(0);
      expect(await statusWith(key)).toBe(401);
      expect(complaints).toEqual([]);
    });

    it('make a key with models, limits, a budget and an expiry date at once', async () => {
      await signUp(page);
      await page.getByLabel('Name').fill('night batch');
      await page.getByLabel('Expires').selectOption('30 days');
      await page.getByText('Models, limits and budget').click();
      await page.getByLabel('Models').fill('other/*');
      await page.getByLabel('Requests per minute').fill('many');
      await page.getByLabel('Budget', { exact: true }).fill('5');
      await page.getByLabel('Budget period').selectOption('A day');
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByText('must be a number, or empty').waitFor();
      expect(await page.getByLabel('Models').inputValue()).toBe('other/*');
      await page.getByLabel('Requests per minute').fill('7');
      await page.getByRole('button', { name: 'Create key' }).click();
      const key = await page.locator('#new-key').innerText();
      expect(await statusWith(key)).toBe(404);
      const row = await rowOf(page, 'night batch').innerText();
      for (const fact of ['7 requests per minute', 'Models: other/*', '$0.00 of $5.00 per day'])
        expect(row).toContain(fact);
      expect(await rowOf(page, 'night batch').locator('[data-label=Expires]').innerText()).not.toContain('Never');
    });

    it('rotate a key', async () => {
      await signUp(page);
      const old = await createKey(page, 'server');
      await rowOf(page, 'server').getByRole('button', { name: 'Rotate' }).click();
      await page.getByLabel('Old key expires').selectOption('1 hour from now');
      await page.getByRole('button', { name: 'Rotate' }).click();
      const fresh = await page.locator('#new-key').innerText();
      expect([await statusWith(old), await statusWith(fresh), fresh === old]).toEqual([200, 200, false]);
      expect(await rowOf(page, 'server').count()).toBe(2);
      expect(complaints).toEqual([]);
    });

    it('change a password, and revoke all keys together with it', async () => {
      await signUp(page);
      const key = await createKey(page, 'laptop');
      await page.getByRole('banner').getByRole('link', { name: '@example.com' }).click();
      await page.getByLabel('Current password').fill('a wrong guess');
      await page.getByLabel('New password').fill('eight blue parrots');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByText('The current password is incorrect.').waitFor();
      await page.getByLabel('Current password').fill(PASSWORD);
      await page.getByLabel('New password').fill('eight blue parrots');
      await page.getByLabel('Revoke all API keys').check();
      await page.getByRole('button', { name: 'Change password' }).click();
      expect(await page.getByRole('status').innerText()).toContain('1 API key was revoked.');
      expect(await statusWith(key)).toBe(401);
      await page.goto(`${origin}/settings/api-keys`);
      expect(await rowOf(page, 'laptop').innerText()).toContain('Revoked');
    });
  });

  it('copy a key and its command, and make no second key when they are loaded anew', async () => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    await signUp(page);
    const key = await createKey(page, 'laptop');
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    await page.getByRole('button', { name: 'Copy key' }).click();
    await page.getByText('Copied').waitFor();
    expect(await clipboard()).toBe(key);
    await page.getByRole('button', { name: 'Copy command' }).click();
    await page.getByText('Copied').nth(1).waitFor();
    expect(await clipboard()).toMatch(new RegExp(`^curl -N ${origin}/.*Bearer ${key}'`, 's'));

    await page.reload();
    expect(await page.getByRole('main').innerText()).not.toContain(key);
    expect(await rowOf(page, 'laptop').count()).toBe(1);
    await context.close();
  });

  it('can be used with the keyboard alone', async () => {
    const page = await browser.newPage();
    await page.goto(`${origin}/sign-in`);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('email');
    await page.keyboard.type('nobody@example.com');
    await page.keyboard.press('Tab');
    await page.keyboard.type('a wrong guess');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.close();
  });

  describe('have nothing serious wrong with them for axe-core, light and dark, on a phone and wide', () => {
    let page: Page;

    beforeAll(async () => {
      page = await browser.newPage();
    });
    afterAll(() => page.close());

    it(
      'before one has signed in',
      async () => {
        await page.goto(`${origin}/sign-in`);
        await expectAccessible(page, 'sign-in');
        await page.goto(`${origin}/nowhere`);
        await expectAccessible(page, 'not-found');
        await page.goto(`${origin}/sign-up`);
        await page.getByLabel('Email').fill('someone@example.com');
        await page.getByLabel('Password').fill('password1');
        await page.getByRole('button', { name: 'Sign up' }).click();
        await page.getByText('too common').waitFor();
        await expectAccessible(page, 'sign-up-refused');
      },
      LOOKING_MS,
    );

    it(
      'with keys',
      async () => {
        await signUp(page);
        await expectAccessible(page, 'api-keys-empty');
        await createKey(page, 'A very long name of a key that a program uses in production, in the night');
        await page.getByText('Models, limits and budget').click();
        await page.getByLabel('Requests per minute').fill('7');
        await createKey(page, 'laptop');
        await expectAccessible(page, 'api-keys-new');
        await rowOf(page, 'laptop').getByRole('button', { name: 'Rotate' }).click();
        await expectAccessible(page, 'rotate');
        await page.goto(`${origin}/settings/api-keys`);
        await rowOf(page, 'laptop').getByRole('button', { name: 'Edit' }).click();
        await expectAccessible(page, 'edit-key');
        await page.goto(`${origin}/settings/activity`);
        await page.getByText('key.created').first().waitFor();
        await expectAccessible(page, 'activity');
        await page.goto(`${origin}/settings/api-keys`);
        await rowOf(page, 'laptop').getByRole('button', { name: 'Revoke' }).click();
        await expectAccessible(page, 'revoke');
        await page.getByRole('button', { name: 'Revoke' }).click();
        await page.getByRole('status').waitFor();
        await expectAccessible(page, 'api-keys');
      },
      LOOKING_MS,
    );

    it(
      'with the account',
      async () => {
        await page.goto(`${origin}/settings/account`);
        await expectAccessible(page, 'account');
        await page.getByLabel('Current password').fill('a wrong guess');
        await page.getByLabel('New password').fill('short');
        await page.getByRole('button', { name: 'Change password' }).click();
        await page.getByText('The password must have').waitFor();
        await expectAccessible(page, 'account-refused');
      },
      LOOKING_MS,
    );
  });
});
