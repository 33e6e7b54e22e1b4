import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { screenshot } from './screenshots.js';
import { WebStage, type SignedInPage } from './web-stage.js';

/** A phone, and what its open keyboard leaves of the screen. */
const PHONE = { width: 390, height: 844 };
const WITH_KEYBOARD = { width: 390, height: 430 };
const WIDE_TABLE = `| Parameter | Description | Default |
| --- | --- | --- |
| internationalization | Disestablishmentarianism \`max_completion_tokens\` | uncharacteristically |`;

describe.skipIf(!hasChromium)('the playground on a phone in Chromium', () => {
  const web = WebStage.forSuite();
  let opened: SignedInPage;
  let page: Page;
  beforeEach(async () => {
    opened = await web.open('/playground', { viewport: PHONE, hasTouch: true, isMobile: true });
    page = opened.page;
  });
  afterEach(async () => {
    await page.context().close();
    expect(opened.complaints).toEqual([]);
  });

  it('shows the conversation and Send while the keyboard is open', async () => {
    await page.setViewportSize(WITH_KEYBOARD);
    await new PlaygroundPage(page).ask('Hello', 'Hello world');
    const box = async (selector: string) => (await page.locator(selector).boundingBox()) ?? { y: 0, height: 0 };
    const send = await box('#send');
    expect(send.y + send.height).toBeLessThanOrEqual(WITH_KEYBOARD.height);
    expect((await box('#conversation')).height).toBeGreaterThan(WITH_KEYBOARD.height / 2);
    expect((await box('.page-header')).height).toBeLessThan(64);
    await screenshot(page, 'playground-phone-keyboard');
  });

  it('has its settings in a sheet, which keeps them when it closes', async () => {
    const temperature = page.getByLabel('Temperature');
    expect(await temperature.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Settings' }).click();
    await temperature.fill('1.5');
    await page.getByRole('button', { name: 'Close' }).click();
    expect(await temperature.isVisible()).toBe(false);
    await new PlaygroundPage(page).ask('Hello', 'Hello world');
    expect(web.provider.calls.at(-1)?.body).toContain('"temperature":1.5');
    await page.getByRole('button', { name: 'Settings' }).click();
    await expectAccessible(page, 'playground-settings');
  });

  it('has a menu that leads to the other pages', async () => {
    const usage = page.getByRole('link', { name: 'Usage' });
    expect(await usage.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await expectAccessible(page, 'playground-menu');
    await usage.click();
    await page.waitForURL('**/usage');
  });

  it('lets wide tables scroll, and keeps their words whole', async () => {
    web.provider.next((call) => {
      call.answer(WIDE_TABLE);
    });
    await new PlaygroundPage(page).send('Write!');
    const table = page.getByRole('region', { name: 'Table' });
    await table.getByText('uncharacteristically').waitFor();
    expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)).toBe(true);
    const lines = (text: string) =>
      table.getByText(text).evaluate((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return new Set([...range.getClientRects()].map(({ top }) => top)).size;
      });
    expect(await lines('internationalization')).toBe(1);
    expect(await lines('max_completion_tokens')).toBe(1);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });
});
