import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { operatorSignedIn } from '../support/account-session.js';
import { expectNoComplaint } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { screenshot } from './screenshots.js';
import { WebStage } from './web-stage.js';

const DARK = 'rgb(19, 23, 31)';
const LIGHT = 'rgb(255, 255, 255)';

describe.skipIf(!hasChromium)('the theme of the pages in Chromium', () => {
  let web: WebStage;

  beforeAll(async () => {
    web = await WebStage.set();
  }, 60_000);
  afterAll(() => web.clear());

  const background = (page: Page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const theme = (page: Page) => page.getByRole('button', { name: /^Theme: / });

  it('is that of the system until somebody chooses another one, which is there before the page is shown', async () => {
    const { page, complaints } = await web.open('/usage', {
      account: await operatorSignedIn(web.stage.service),
      colorScheme: 'light',
    });
    expect(await background(page)).toBe(LIGHT);
    await theme(page).focus();
    await page.keyboard.press('Enter');
    expect(await theme(page).innerText()).toBe('Theme: light');
    await page.keyboard.press('Enter');
    expect(await theme(page).innerText()).toBe('Theme: dark');
    expect(await background(page)).toBe(DARK);

    await page.addInitScript(() => {
      requestAnimationFrame(() => {
        (globalThis as { first?: string | null }).first = document.documentElement.getAttribute('data-theme');
      });
    });
    for (const path of ['/playground', '/operator/status', '/usage']) {
      await page.goto(web.origin + path);
      expect(await page.evaluate(() => (globalThis as { first?: string }).first), path).toBe('dark');
      expect(await background(page), path).toBe(DARK);
      await expectNoComplaint(page, `dark ${path}`);
      await screenshot(page, `theme-dark-${path.replaceAll('/', '-')}`);
    }
    await page.goto(`${web.origin}/api/docs`, { waitUntil: 'commit' });
    await page.locator('html.dark-mode').waitFor();
    await page.goto(`${web.origin}/usage`);

    // Another tab follows.
    const other = await page.context().newPage();
    await other.goto(`${web.origin}/usage`);
    await theme(page).click();
    await expect.poll(() => background(other)).toBe(LIGHT);
    expect(complaints).toEqual([]);
    await page.context().close();
  }, 60_000);

  it('is in the menu on a phone, also for visitors, and without JavaScript there is no button', async () => {
    const { page } = await web.visit(`${web.origin}/sign-in`);
    await page.setViewportSize({ width: 320, height: 640 });
    await page.getByRole('button', { name: 'Menu' }).click();
    await theme(page).click();
    expect(await theme(page).isVisible()).toBe(true);
    await expectNoComplaint(page, 'menu');
    await screenshot(page, 'theme-menu');
    await page.context().close();

    const { page: plain } = await web.open('/usage', { javaScriptEnabled: false });
    expect(await plain.locator('#theme').isVisible()).toBe(false);
    await plain.context().close();
  });
});
