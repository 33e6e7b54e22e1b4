import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { configFile, routesTo } from '../support/catalog.js';
import { Installation } from '../support/process.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium, launchChromium } from './chromium.js';

const PASSWORD = 'seven green parrots';

describe.skipIf(!hasChromium)('the pages of an account, in Chromium', () => {
  let installation: Installation;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    installation = await Installation.create(configFile(routesTo(['http://127.0.0.1:9'])));
    origin = await installation.start({ SIGN_UP: 'open' }).origin();
    browser = await launchChromium();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await installation.remove();
  });

  it('look', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const at = (path: string) => page.goto(`${origin}${path}`);
    await at('/sign-in');
    await expectAccessible(page, 'sign-in');
    await at('/sign-up');
    await page.getByLabel('Email').fill('someone@example.com');
    await page.getByLabel('Password').fill('password1');
    await page.getByRole('button', { name: 'Sign up' }).click();
    await expectAccessible(page, 'sign-up-refused');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign up' }).click();
    await at('/nowhere');
    await expectAccessible(page, 'not-found');
    await at('/settings/api-keys');
    await expectAccessible(page, 'api-keys-empty');
    await page.getByLabel('Name').fill('laptop');
    await page.getByRole('button', { name: 'Create key' }).click();
    await expectAccessible(page, 'api-keys-new');
    await page.getByLabel('Name').fill('A very long name of a key that a program uses in production, in the night');
    await page.getByLabel('Expires').selectOption('30');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'Rotate' }).first().click();
    await expectAccessible(page, 'rotate');
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('button', { name: 'Revoke' }).nth(2).click();
    await expectAccessible(page, 'revoke');
    await page.getByRole('button', { name: 'Revoke' }).click();
    await expectAccessible(page, 'api-keys');
    await page.getByRole('link', { name: 'someone@example.com' }).click();
    await expectAccessible(page, 'account');
    await page.getByLabel('Current password').fill('nonsense');
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Change password' }).click();
    await expectAccessible(page, 'account-refused');
  }, 120_000);
});
