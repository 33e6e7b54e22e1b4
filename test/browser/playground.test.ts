import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Latch } from '../support/latch.js';
import { hasChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { WebStage, type SignedInPage } from './web-stage.js';

const TIERS = { free: { max_tokens: 4096 } };

describe.skipIf(!hasChromium)('the playground in Chromium', () => {
  const web = WebStage.forSuite({ tiers: TIERS });
  let opened: SignedInPage;
  let page: Page;
  let playground: PlaygroundPage;
  /** The number of the provider's next call. */
  let next: number;
  beforeEach(async () => {
    next = web.provider.calls.length + 1;
    opened = await web.open('/playground');
    page = opened.page;
    playground = new PlaygroundPage(page);
  });
  afterEach(async () => {
    await page.context().close();
    expect(opened.complaints).toEqual([]);
  });

  const requestOf = async (number: number) => (await web.provider.call(number)).json;

  it('shows an answer as it arrives, as it is', async () => {
    const seen = new Latch();
    const rest = '  <b>bold</b>\n\n    indented & ä € 🦜';
    web.provider.next(async (call) => {
      call.head().text('First,');
      await seen.opened;
      call.text(rest).finish().endMarker().end();
    });
    await page.getByLabel('Show Markdown').uncheck();
    await playground.send('Hello!');
    // The rest is written only once the page has the first piece.
    await playground.answerIs('First,');
    await expect.poll(() => playground.announcement()).toBe('The answer is starting.');
    expect(await page.getByRole('button', { name: 'Send' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(1);
    seen.open();
    await playground.answerIs(`First,${rest}`);
    await expect.poll(() => playground.announcement()).toBe('The answer is complete: 7 words.');
    expect(await page.locator('#conversation b').count()).toBe(0);
    expect(await playground.focusedId()).toBe('message');
  });

  it('sends the whole conversation with each message', async () => {
    web.provider.next((call) => {
      call.answer('One.');
    });
    await page.getByLabel('System prompt').fill('Be brief.');
    await playground.ask('First?', 'One.');
    await playground.ask('Second?', 'Hello world');
    expect(await requestOf(next + 1)).toMatchObject({
      temperature: 0.7,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'First?' },
        { role: 'assistant', content: 'One.' },
        { role: 'user', content: 'Second?' },
      ],
    });
  });

  it('keeps the settings over a reload', async () => {
    await page.getByLabel('System prompt').fill('Be brief.');
    await page.getByLabel('Temperature').fill('1.25');
    await page.getByLabel('Max tokens').fill('64');
    await playground.ask('Where is the treasure?', 'Hello world');
    expect(await requestOf(next)).toMatchObject({ temperature: 1.25, max_tokens: 64 });
    await page.reload();
    expect(await page.getByLabel('System prompt').inputValue()).toBe('Be brief.');
    expect(await page.getByLabel('Temperature').inputValue()).toBe('1.25');
    expect(await page.getByLabel('Max tokens').inputValue()).toBe('64');
  });

  it('Stop ends the work of the provider, and keeps what came', async () => {
    web.provider.next((call) => {
      call.head().text('On and on');
    });
    await playground.send('Go on!');
    await playground.answerIs('On and on');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped. This partial answer is included').waitFor();
    expect(await playground.focusedId()).toBe('message');
    const call = await web.provider.call(next);
    await call.over;
    expect(call.abortedAt).toBeDefined();
    await playground.ask('And then?', 'Hello world');
    expect(await requestOf(next + 1)).toMatchObject({
      messages: [
        { role: 'user', content: 'Go on!' },
        { role: 'assistant', content: 'On and on' },
        { role: 'user', content: 'And then?' },
      ],
    });
  });

  it('Stop ends the work of the provider although the page is left at once', async () => {
    web.provider.next((call) => {
      call.head().text('On and on');
    });
    await playground.send('Go on!');
    await playground.answerIs('On and on');
    await page.evaluate(() => {
      document.getElementById('send')?.click();
      location.href = 'about:blank';
    });
    const call = await web.provider.call(next);
    await call.over;
    expect(call.abortedAt).toBeDefined();
  });

  describe('while a durable stream waits for its first text', () => {
    let sent: string[];
    beforeEach(async () => {
      sent = [];
      await page.route('**/api/v1/chat/stream', (route) =>
        route.fulfill({
          headers: { 'content-type': 'text/event-stream', 'x-stream-id': 'of-the-service' },
          body: ': keep-alive\n\n',
        }),
      );
      await page.route('**/api/v1/chat/streams/of-the-service', async (route) => {
        const method = route.request().method();
        sent.push(method);
        if (method === 'DELETE') await route.fulfill({ status: 204 });
      });
      await playground.send('Think!');
      await expect.poll(() => sent).toEqual(['GET']);
    });

    it('Stop cancels it', async () => {
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByText('Stopped before the first text.').waitFor();
      await expect.poll(() => sent).toEqual(['GET', 'DELETE']);
    });

    it('a reload continues it', async () => {
      await page.reload();
      await expect.poll(() => sent).toEqual(['GET', 'GET']);
      expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(1);
    });
  });

  it('Clear ends the work of the provider, and removes the whole conversation', async () => {
    web.provider.next((call) => {
      call.head().text('On and on');
    });
    await playground.send('Go on!');
    await playground.answerIs('On and on');
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => playground.turns()).toBe(0);
    await (
      await web.provider.call(next)
    ).over;
    await page.getByText('Ask a question.').waitFor();
    await playground.ask('Anew', 'Hello world');
    expect((await requestOf(next + 1))['messages']).toEqual([{ role: 'user', content: 'Anew' }]);
  });

  it('shows all of a long answer, and follows it only while its reader is at the end', async () => {
    const half = new Latch();
    const lines = Array.from(
      { length: 4000 },
      (_, index) => `Line ${index} of a long answer, with some words in it.\n`,
    );
    web.provider.next(async (call) => {
      call.head();
      for (const line of lines.slice(0, 2000)) call.text(line);
      await half.opened;
      for (const line of lines.slice(2000)) call.text(line);
      call.finish().endMarker().end();
    });
    await page.getByLabel('Show Markdown').uncheck();
    await playground.send('Write!');
    await playground.answerIs(lines.slice(0, 2000).join(''));
    await expect.poll(() => playground.distanceToEnd()).toBeLessThan(2);
    await page.setViewportSize({ width: 390, height: 700 });
    await expect.poll(() => playground.distanceToEnd()).toBeLessThan(2);
    await playground.scrollTo(100);
    half.open();
    await playground.answerIs(lines.join(''));
    expect(await playground.scrolledTo()).toBe(100);
  });

  it('Enter sends; Shift and Enter, and an input method, do not', async () => {
    const message = page.getByLabel('Message');
    await message.fill('One');
    await message.press('Shift+Enter');
    await message.pressSequentially('Two');
    await message.dispatchEvent('keydown', { key: 'Enter', isComposing: true });
    await message.dispatchEvent('keydown', { key: 'Enter', keyCode: 229 });
    expect(await playground.turns()).toBe(0);
    await message.press('Enter');
    await playground.answerIs('Hello world');
    expect((await requestOf(next))['messages']).toEqual([{ role: 'user', content: 'One\nTwo' }]);
    await message.press('Enter');
    await message.fill(' \n ');
    await message.press('Enter');
    expect(web.provider.calls).toHaveLength(next);
  });

  it('an answer goes on while its page is left or reloaded, and the page that comes back shows all of it', async () => {
    const latches = [new Latch(), new Latch()];
    web.provider.next(async (call) => {
      call.head().text('On and on');
      await latches[0]?.opened;
      call.text(' and on');
      await latches[1]?.opened;
      call.text(' to the end').finish().endMarker().end();
    });
    await playground.send('Go on!');
    await playground.answerIs('On and on');
    await page.goto(`${web.origin}/usage`);
    latches[0]?.open();
    await page.goBack();
    await playground.answerIs('On and on and on');
    await page.reload();
    await playground.answerIs('On and on and on');
    latches[1]?.open();
    await playground.answerIs('On and on and on to the end');
    await expect.poll(() => playground.announcement()).toContain('The answer is complete');
    expect(web.provider.calls).toHaveLength(next);
    await playground.ask('Again', 'Hello world');
    expect((await requestOf(next + 1))['messages']).toMatchObject([
      { role: 'user', content: 'Go on!' },
      { role: 'assistant', content: 'On and on and on to the end' },
      { role: 'user', content: 'Again' },
    ]);
  });
});
