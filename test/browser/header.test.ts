import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountSession } from '../support/account-session.js';
import { hasChromium } from './chromium.js';
import { WebStage } from './web-stage.js';

const PAGES = [
  ...['/settings/api-keys', '/playground', '/usage', '/usage/requests', '/settings/account'],
  ...['/operator/accounts', '/operator/requests', '/operator/audit', '/operator/status'],
];

describe.skipIf(!hasChromium)('the header in Chromium', () => {
  let web: WebStage;
  let operator: AccountSession;

  beforeAll(async () => {
    web = await WebStage.set();
    // An address of usual length.
    operator = await web.stage.service.createSession({ role: 'operator', email: 'person-1@example.com' });
  }, 60_000);
  afterAll(() => web.clear());

  /** The places of the links and buttons of the header. */
  const places = (page: Page) =>
    page.locator('.page-header').evaluate((header) =>
      [...header.querySelectorAll('a, button')]
        .filter((part) => part.checkVisibility())
        .map((part) => {
          const { left, top, width } = part.getBoundingClientRect();
          return [part.textContent.trim(), Math.round(left), Math.round(top), Math.round(width)] as const;
        }),
    );

  it.each([1280, 1024, 900])('has one row for operators at a width of %s pixels', async (width) => {
    const { page } = await web.open('/usage', { account: operator, viewport: { width, height: 800 } });
    const header = await page.locator('.page-header').boundingBox();
    expect(header?.height).toBeLessThan(64);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    const shown = await places(page);
    expect(shown.map(([text]) => text)).toEqual(expect.arrayContaining(['Audit log', 'Status', 'Docs', 'Sign out']));
    for (const [index, [, left]] of shown.entries()) {
      const [, before = 0, , widthBefore = 0] = shown[index - 1] ?? [];
      expect(left).toBeGreaterThanOrEqual(before + widthBefore);
    }
    await page.context().close();
  });

  it('shows the whole address of an operator at a width of 1280 pixels', async () => {
    const { page } = await web.open('/usage', { account: operator, viewport: { width: 1280, height: 800 } });
    const email = page.locator('.page-header .email');
    expect(await email.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true);
    await page.context().close();
  });

  it.each([1280, 390])(
    'stays in its place from page to page at a width of %s pixels',
    async (width) => {
      const { page } = await web.open('/usage', { account: operator, viewport: { width, height: 800 } });
      const expected = await places(page);
      for (const path of PAGES) {
        await page.goto(web.origin + path);
        expect(await places(page), path).toEqual(expected);
      }
      await page.context().close();
    },
    60_000,
  );
});
