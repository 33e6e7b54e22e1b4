import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AccountSession } from '../support/account-session.js';
import { stream } from '../support/sse-client.js';
import { expectNoComplaint } from './accessibility.js';
import { hasChromium, mustHaveChromium } from './chromium.js';
import { screenshot } from './screenshots.js';
import { WebStage } from './web-stage.js';

const FOR_VISITORS = ['/', '/sign-in', '/sign-up', '/docs', '/docs/http-api', '/docs/compatible-apis', '/nowhere'];
const FOR_MEMBERS = [
  ...['/', '/settings/api-keys', '/settings/account', '/settings/activity', '/playground'],
  ...['/usage', '/usage/requests', '/docs'],
];
const FOR_OPERATORS = [
  ...['/operator/accounts', '/operator/accounts/new', '/operator/invitations/new', '/operator/keys'],
  ...['/operator/requests', '/operator/audit', '/operator/status', '/operator/webhooks'],
];
const FORMS = [
  { width: 320, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
] as const;

const PAGES = [
  ...['/settings/api-keys', '/playground', '/usage', '/usage/requests', '/settings/account'],
  ...['/operator/accounts', '/operator/requests', '/operator/audit', '/operator/status'],
];

const DARK = 'rgb(19, 23, 31)';
const LIGHT = 'rgb(255, 255, 255)';

/** The entries of the navigation. */
const ENTRIES = [
  ['API keys', '/settings/api-keys'],
  ['Playground', '/playground'],
  ['Usage', '/usage'],
  ['Accounts', '/operator/accounts'],
] as const;

it('Chromium is installed where CI=true or REQUIRE_BROWSER=1 demands a browser', () => {
  expect(hasChromium || !mustHaveChromium).toBe(true);
});

describe.skipIf(!hasChromium)('every page in Chromium', () => {
  const web = WebStage.forSuite();
  let operator: AccountSession;

  beforeAll(async () => {
    // An address of usual length.
    operator = await web.stage.service.createSession({ role: 'operator', email: 'person-1@example.com' });
    await stream(web.stage.origin, { key: web.stage.key });
  });

  const lookAt = async (page: Page, paths: readonly string[], who: string) => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    for (const path of paths) {
      await page.goto(web.origin + path);
      for (const { width, colorScheme } of FORMS) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        const title = `${who} ${path} ${width} ${colorScheme}`;
        await screenshot(page, title.replaceAll(/\W+/g, '-'));
        await expectNoComplaint(page, title);
      }
    }
    expect(page.url()).toBe(web.origin + (paths.at(-1) ?? ''));
    await page.context().close();
  };

  it('has no complaint of axe and no sideways scrolling, on a narrow phone and wide, for visitors', async () => {
    await lookAt((await web.visit(web.origin)).page, FOR_VISITORS, 'visitor');
  }, 240_000);

  it('has none for members', async () => {
    await lookAt((await web.open('/usage')).page, FOR_MEMBERS, 'member');
  }, 240_000);

  it('has none for operators', async () => {
    await lookAt((await web.open('/usage', { account: operator })).page, FOR_OPERATORS, 'operator');
  }, 240_000);

  describe('the header', () => {
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

  describe('the theme', () => {
    const background = (page: Page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const theme = (page: Page) => page.getByRole('button', { name: /^Theme: / });

    it('is that of the system until somebody chooses another one, which is there before the page is shown', async () => {
      const { page, complaints } = await web.open('/usage', {
        account: operator,
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

  describe('with forced colors', () => {
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
      'shows which page of the navigation is the current one, %s',
      async (colorScheme) => {
        const options = { account: operator, forcedColors: 'active', colorScheme } as const;
        const { page, complaints } = await web.open('/usage', options);
        for (const [current, path] of ENTRIES) {
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
});
