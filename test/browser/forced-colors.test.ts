import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorSignedIn, type AccountSession } from '../support/account-session.js';
import { hasChromium } from './chromium.js';
import { screenshot } from './screenshots.js';
import { WebStage } from './web-stage.js';

const PAGES = [
  ['API keys', '/settings/api-keys'],
  ['Playground', '/playground'],
  ['Usage', '/usage'],
  ['Accounts', '/operator/accounts'],
] as const;

describe.skipIf(!hasChromium)('the pages with forced colors in Chromium', () => {
  let web: WebStage;
  let operator: AccountSession;

  beforeAll(async () => {
    web = await WebStage.set();
    operator = await operatorSignedIn(web.stage.service);
  }, 60_000);
  afterAll(() => web.clear());

  /** The colors of the lines below the entries of the navigation, and the color behind them. */
  const linesOf = (page: Page) =>
    page.evaluate(() => {
      const lines = [...document.querySelectorAll('nav[aria-label=Main] a')].map((link) => ({
        label: link.textContent,
        color: getComputedStyle(link).borderBottomColor,
      }));
      const probe = document.body.appendChild(document.createElement('span'));
      probe.style.color = 'Canvas';
      return { lines, background: getComputedStyle(probe).color };
    });

  it.each(['light', 'dark'] as const)(
    'show which page of the navigation is the current one, %s',
    async (colorScheme) => {
      const options = { account: operator, forcedColors: 'active', colorScheme } as const;
      const { page, complaints } = await web.open('/usage', options);
      for (const [current, path] of PAGES) {
        await page.goto(web.origin + path);
        const { lines, background } = await linesOf(page);
        const visible = lines.filter(({ color }) => color !== background).map(({ label }) => label);
        expect([path, visible]).toEqual([path, [current]]);
        await screenshot(page, `forced-colors-${current.replace(' ', '-')}-${colorScheme}`);
      }
      expect(complaints).toEqual([]);
      await page.context().close();
    },
  );
});
