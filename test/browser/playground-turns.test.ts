import { readFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { inEachForm } from './screenshots.js';
import { WebStage, type SignedInPage } from './web-stage.js';

const usage = (prompt: number, completion: number) =>
  `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: prompt, completion_tokens: completion } })}\n\n`;
const NASTY = `it's "quoted", $HOME \`date\` \${x} $(date) \\ !! % #\nand 🦜 €`;

describe.skipIf(!hasChromium)('the turns of the playground in Chromium', () => {
  const web = WebStage.forSuite({ price: { input_per_million: 0.5, output_per_million: 2 } });
  let opened: SignedInPage;
  let page: Page;
  let playground: PlaygroundPage;
  /** The number of the provider's next call. */
  let next: number;
  beforeEach(async () => {
    next = web.provider.calls.length + 1;
    opened = await web.open('/playground', {
      permissions: ['clipboard-read', 'clipboard-write'],
      acceptDownloads: true,
    });
    page = opened.page;
    playground = new PlaygroundPage(page);
  });
  afterEach(() => page.context().close());

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const messagesOf = async (number: number) => (await web.provider.call(number)).json['messages'];
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());

  it('have a receipt: tokens, cost, time and reason', async () => {
    web.provider.next((call) => {
      call.head().text('Hello world').finish().write(usage(1200, 34)).endMarker().end();
    });
    await playground.send('Hello!');
    const receipt = page.locator('.receipt').last();
    await receipt.getByText('1,200 tokens in · 34 tokens out · $0.000668').waitFor();
    expect(await receipt.innerText()).toMatch(/first text after (?:< )?[\d.]+ s/);
    expect(await receipt.innerText()).toContain('finished');
  });

  it('that were cut off at the token limit say so, and can be continued', async () => {
    web.provider.next((call) => {
      call.head().text('Once upon a').finish('length').write(usage(5, 3)).endMarker().end();
    });
    await playground.send('A story!');
    await page.getByText('Cut off at the token limit.').waitFor();
    await expectAccessible(page, 'playground-cut-off');
    await button('Continue').click();
    await playground.answerIs('Hello world');
    expect(await messagesOf(next + 1)).toEqual([
      { role: 'user', content: 'A story!' },
      { role: 'assistant', content: 'Once upon a' },
      { role: 'user', content: 'Continue exactly where you stopped.' },
    ]);
  }, 120_000);

  it('are copied, sent again, and edited; removed turns can be restored', async () => {
    web.provider.next((call) => {
      call.answer('One **bold**.');
    });
    await playground.ask('First?', 'One bold.');
    await button('Copy answer').click();
    await expect.poll(clipboard).toBe('One **bold**.');
    await button('Copy question').click();
    await expect.poll(clipboard).toBe('First?');

    await playground.ask('Second?', 'Hello world');
    await button('Regenerate').first().click();
    await page.getByText('A later exchange was removed.').waitFor();
    await playground.answerIs('Hello world');
    expect(await messagesOf(next + 2)).toEqual([{ role: 'user', content: 'First?' }]);
    await button('Undo').click();
    expect(await page.locator('.turn').count()).toBe(4);

    await button('Edit').first().click();
    expect(await page.getByLabel('Message').inputValue()).toBe('First?');
    expect(await playground.turns()).toBe(0);
    await page.getByLabel('Message').fill('First, in other words?');
    await button('Send').click();
    await playground.answerIs('Hello world');
    expect(await messagesOf(next + 3)).toEqual([{ role: 'user', content: 'First, in other words?' }]);
  });

  it.each([
    ['curl', 'bash', ['-c']],
    ['JavaScript', process.execPath, ['--input-type=module', '-e']],
    ['Python', 'python3', ['-c']],
  ])('are there as %s: the very request that was sent', async (language, program, flags) => {
    await page.getByLabel('System prompt').fill(`Don't stop`);
    await page.getByLabel('Max tokens').fill('64');
    await page.getByLabel('Temperature').fill('1');
    await playground.ask(NASTY, 'Hello world');
    // Whatever is written and set since, the request is the one that was sent.
    await page.getByLabel('Message').fill('Something else');
    await page.getByLabel('Max tokens').fill('65');
    await button('Code').click();
    await page.getByText('The request exactly as it was sent.').waitFor();
    await page.getByLabel(language).check();
    await button('Copy code').click();
    await page.getByText('Copied', { exact: true }).waitFor();
    const code = await clipboard();
    expect(code).not.toContain('csk_');
    const { key } = await web.stage.service.createKey();
    const run = spawn(program, [...flags, code], {
      env: { PATH: process.env['PATH'], API_KEY: key },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(await text(run.stdout)).toContain('Hello');
    const [fromPage, fromCode] = [await web.provider.call(next), await web.provider.call(next + 1)];
    expect(fromCode.json).toEqual(fromPage.json);
    await inEachForm(page, `playground-code-${language}`);
  });

  it('are back after a reload, with the draft, and gone after signing out', async () => {
    await playground.ask('Where is the treasure?', 'Hello world');
    await page.locator('.receipt').getByText('tokens out').waitFor();
    await page.getByLabel('Message').fill('A draft');
    await page.reload();
    await playground.answerIs('Hello world');
    expect(await page.locator('.question .turn-text').innerText()).toBe('Where is the treasure?');
    expect(await page.locator('.receipt').last().innerText()).toContain('tokens out');
    expect(await page.getByLabel('Message').inputValue()).toBe('A draft');
    await page.goto(`${web.origin}/usage`);
    await page.goBack();
    await playground.answerIs('Hello world');
    await button('Send').click();
    await expect.poll(() => playground.announcement()).toContain('complete');
    expect(await messagesOf(next + 1)).toHaveLength(3);

    await button('Sign out').click();
    await page.waitForURL('**/sign-in');
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });

  it('can be saved as Markdown and as JSON', async () => {
    await playground.ask('First?', 'Hello world');
    const saved = async (name: string) => {
      await page.getByText('Export', { exact: true }).click();
      const [download] = await Promise.all([page.waitForEvent('download'), button(name).click()]);
      return readFile(await download.path(), 'utf8');
    };
    expect(await saved('Export Markdown')).toMatch(/^## You\n\nFirst\?\n\n## .+\n\nHello world\n$/);
    const { turns } = JSON.parse(await saved('Export JSON')) as { turns: object[] };
    expect(turns).toMatchObject([{ question: 'First?', answer: 'Hello world', state: 'complete' }]);
  });

  it('Escape stops an answer; Enter then sends nothing twice', async () => {
    web.provider.next((call) => {
      call.head().text('On and on');
    });
    await playground.send('Go on!');
    await playground.answerIs('On and on');
    await page.getByLabel('Message').fill('A draft');
    await page.keyboard.press('Enter');
    expect(await button('Stop').count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.getByText('Stopped. This partial answer').waitFor();
    expect(await page.getByLabel('Message').inputValue()).toBe('A draft');
    expect(await button('Send').count()).toBe(1);
    // The page has shown the end before the service knows of it.
    await (
      await web.provider.call(next)
    ).over;
  });

  it('can be reached from further up, and are all printed', async () => {
    const long = Array.from({ length: 200 }, (_, line) => `Paragraph ${line}.`).join('\n\n');
    web.provider.next((call) => {
      call.answer(long);
    });
    await playground.send('Write!');
    await expect.poll(() => playground.announcement()).toContain('complete');
    expect(await button('Jump to latest').isVisible()).toBe(false);
    await playground.scrollTo(0);
    await button('Jump to latest').click();
    await expect.poll(() => playground.distanceToEnd()).toBeLessThan(2);
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('#conversation').evaluate((log) => log.scrollHeight <= log.clientHeight)).toBe(true);
    expect(await page.getByLabel('Message').isVisible()).toBe(false);
  });

  it('fit the page: the composer is always in sight', async () => {
    for (const [width, height] of [
      [1280, 800],
      [390, 844],
      [390, 600],
    ] as const) {
      await page.setViewportSize({ width, height });
      // On a phone, the settings are folded when the page opens.
      await page.reload();
      const box = await button('Send').boundingBox();
      expect((box?.y ?? height) + (box?.height ?? 0)).toBeLessThanOrEqual(height);
    }
    await page.getByLabel('Message').fill('line\n'.repeat(100));
    const box = await button('Send').boundingBox();
    expect((box?.y ?? 600) + (box?.height ?? 0)).toBeLessThanOrEqual(600);
  });

  it('whose model no longer exists get another model', async () => {
    await playground.ask('First?', 'Hello world');
    await page.evaluate(() => {
      const option = document.querySelector<HTMLOptionElement>('#model option');
      if (option !== null) option.value = 'acme/gone';
    });
    await playground.send('Second?');
    await page.locator('.failure').getByText('Model no longer available').waitFor();
    await expect.poll(() => page.getByLabel('Model', { exact: true }).inputValue()).toBe('acme/fast');
    await button('Try again').click();
    await playground.answerIs('Hello world');
    expect(await messagesOf(next + 1)).toHaveLength(3);
  });
});
