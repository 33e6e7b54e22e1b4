import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible } from './accessibility.js';
import { hasChromium, launchChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { WebStage } from './web-stage.js';
import { complaintsOf } from './watched-page.js';

describe.skipIf(!hasChromium)('the front door in Chromium', () => {
  let web: WebStage;

  beforeAll(async () => {
    web = await WebStage.set();
  }, 60_000);
  afterAll(() => web.clear());

  it('shows visitors what this is, which models there are, and where the documentation is', async () => {
    const browser = await launchChromium();
    const page = await browser.newPage();
    const complaints = complaintsOf(page);
    await page.goto(web.origin);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.getByRole('table').getByRole('rowheader').count()).toBe(1);
    await expectAccessible(page, 'front');
    await page.getByRole('banner').getByRole('link', { name: 'Docs' }).click();
    await page.getByRole('button', { name: 'API reference' }).click();
    await page.locator('.opblock-summary-path').first().waitFor();
    expect(await page.locator('.opblock-tag').first().textContent()).toBe('Chat');
    expect(await page.locator('header pre').textContent()).toContain(`curl -N ${web.origin}/api/v1/chat/stream`);
    await page.locator('.opblock-summary-control').first().click();
    await page.locator('.opblock-body table.headers').first().waitFor();
    await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'));
    // The headings and regions are those of Swagger UI.
    await expectAccessible(page, 'docs', ['heading-order', 'region']);
    await page.getByRole('link', { name: 'Back to Chat Streaming Service' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(complaints).toEqual([]);
    await browser.close();
  }, 120_000);

  it('leads a new account to its first request, and then to the playground', async () => {
    const { page } = await web.visit(`${web.origin}/sign-up`);
    await page.getByLabel('Email').fill('newcomer@example.com');
    await page.getByLabel('Password').fill('seven green parrots');
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByRole('heading', { name: 'Get started' }).waitFor();
    expect(await page.locator('#sdk-line').innerText()).toContain(`new OpenAI({ baseURL: '${web.origin}/api/v1'`);
    await page.getByRole('main').getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    await page.goBack();
    const done = page.locator('.steps .done');
    expect(await done.count()).toBe(1);
    await expectAccessible(page, 'get-started');
    await page.getByRole('main').getByRole('link', { name: 'playground' }).click();
    await new PlaygroundPage(page).ask('Hello!', 'Hello world');
    await page.locator('.receipt').getByText('tokens out').waitFor();
    await page.goto(web.origin);
    expect(await done.count()).toBe(2);
    await page.context().close();
  }, 120_000);
});
