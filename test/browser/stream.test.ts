import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL, configFile, routesTo } from '../support/catalog.js';
import { Latch } from '../support/latch.js';
import { Installation } from '../support/process.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { hasChromium, launchChromium, mustHaveChromium } from './chromium.js';
import { screenshot } from './screenshots.js';
import { openPage } from './watched-page.js';

const TEXTS = Array.from({ length: 50 }, (_, index) => `piece ${index} with ä, € and 🦜; `);

describe('Chromium', () => {
  it('is installed where CI=true or REQUIRE_BROWSER=1 demands a browser', () => {
    expect(hasChromium || !mustHaveChromium).toBe(true);
  });
});

describe.skipIf(!hasChromium)('in Chromium', () => {
  let provider: ScriptedProvider;
  let installation: Installation;
  let browser: Browser;
  let origin: string;
  let key: string;

  beforeAll(async () => {
    provider = await ScriptedProvider.start();
    installation = await Installation.create(configFile(routesTo([provider])));
    origin = await installation.start().origin();
    ({ key } = await installation.createKey());
    browser = await launchChromium();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await installation.remove();
    await provider.stop();
  });

  it('a page of the same origin reads a stream by fetch, while it is written and to its end', async () => {
    const seen = new Latch();
    provider.next(async (call) => {
      call.head().text('First, ');
      await seen.opened;
      for (const text of TEXTS) {
        call.text(text);
        await new Promise(setImmediate);
      }
      call.finish().endMarker().end();
    });
    const { page, complaints } = await openPage(browser, `${origin}/api/docs`);
    const inPage: string[] = [];
    await page.exposeFunction('tell', (data: string) => {
      inPage.push(data);
      // The rest is written only once the page has the first piece: whatever buffers on the way would wait for ever.
      seen.open();
    });

    const type = await page.evaluate(
      async ({ bearer, model }) => {
        const { tell } = globalThis as unknown as { tell(data: string): Promise<void> };
        const response = await fetch('/api/v1/chat/stream', {
          method: 'POST',
          headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }),
        });
        const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
        let unread = '';
        for (;;) {
          const { done, value = '' } = (await reader?.read()) ?? { done: true };
          if (done) return response.headers.get('content-type');
          const blocks = (unread + value).split('\n\n');
          unread = blocks.pop() ?? '';
          for (const block of blocks) if (block.startsWith('data: ')) await tell(block.slice('data: '.length));
        }
      },
      { bearer: key, model: MODEL },
    );

    const chunks = inPage.map((data) => JSON.parse(data) as { content: string; done: boolean });
    expect(type).toBe('text/event-stream; charset=utf-8');
    expect(chunks.map(({ content }) => content).join('')).toBe(`First, ${TEXTS.join('')}`);
    expect(chunks.filter(({ done }) => done)).toEqual([{ content: '', done: true }]);
    expect(chunks.at(-1)?.done).toBe(true);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('a page that is closed ends the work of the provider', async () => {
    provider.next((call) => {
      call.head().text('On and on');
    });
    const before = provider.calls.length;
    const { page } = await openPage(browser, `${origin}/api/docs`);
    await page.evaluate(
      async ({ bearer, model }) => {
        const response = await fetch('/api/v1/chat/stream', {
          method: 'POST',
          headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }),
        });
        await response.body?.getReader().read();
      },
      { bearer: key, model: MODEL },
    );
    await page.close();

    const call = await provider.call(before + 1);
    await call.over;
    expect(call.abortedAt).toBeDefined();
  });

  it('a page of another origin gets nothing to read', async () => {
    const { page } = await openPage(browser, `${origin}/api/docs`);
    const elsewhere = origin.replace('127.0.0.1', 'localhost');
    const outcome = await page.evaluate(
      (url) =>
        fetch(url).then(
          () => 'read',
          () => 'refused',
        ),
      `${elsewhere}/api/v1/chat/models`,
    );
    expect(outcome).toBe('refused');
    await page.close();
  });

  it('/api/docs shows every operation and complains of nothing', async () => {
    const { page, complaints } = await openPage(browser, `${origin}/api/docs`);
    await page.setViewportSize({ width: 1200, height: 900 });
    const paths = page.locator('.opblock-summary-path');
    await paths.first().waitFor();

    const shown = (await paths.allTextContents()).map((path) => path.replaceAll('\u200b', ''));
    expect(shown).toEqual(
      expect.arrayContaining(['/api/v1/chat/stream', '/api/v1/chat/models', '/api/v1/health', '/api/v1/health/ready']),
    );
    await page.locator('.opblock-post').first().click();
    await page.getByText('Example Value').first().waitFor();
    await screenshot(page, 'docs');
    await page.emulateMedia({ colorScheme: 'dark' });
    const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await expect.poll(background).toBe('rgb(28, 32, 34)');
    await screenshot(page, 'docs-dark');
    expect(complaints).toEqual([]);
    await page.close();
  });
});
