import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Latch } from '../support/latch.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { hasChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { inEachForm } from './screenshots.js';
import { WebStage, type SignedInPage } from './web-stage.js';

const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;
describe.skipIf(!hasChromium)('the playground on a bad network in Chromium', () => {
  const web = WebStage.forSuite();
  let proxy: TcpProxy;
  let opened: SignedInPage;
  let page: Page;
  let playground: PlaygroundPage;
  /** The number of the provider's next call. */
  let next: number;
  beforeEach(async () => {
    next = web.provider.calls.length + 1;
    proxy = await TcpProxy.start(Number(new URL(web.origin).port));
  });
  afterEach(async () => {
    await page.context().close();
    await proxy.stop();
  });

  async function open(viewport: { width: number; height: number } = SIZES.desktop): Promise<void> {
    opened = await web.open('/playground', { viewport, origin: `http://localhost:${proxy.port}` });
    page = opened.page;
    playground = new PlaygroundPage(page);
  }

  const button = (name: string) => page.getByRole('button', { name });
  const failure = () => page.locator('.failure').last();
  const notice = () => page.locator('.turn-connection').last();

  /** Begins an answer whose rest the provider sends when the latch is open. */
  async function beginAnswer(): Promise<Latch> {
    const latch = new Latch();
    web.provider.next(async (call) => {
      call.head().text('The first half, ');
      await latch.opened;
      call.text('and the rest.').finish().endMarker().end();
    });
    await playground.send('All of it!');
    await playground.answerIs('The first half, ');
    return latch;
  }

  async function expectWholeAnswerOnce(): Promise<void> {
    await playground.answerIs('The first half, and the rest.');
    await expect.poll(() => playground.announcement()).toContain('The answer is complete');
    expect(await notice().textContent()).toBe('');
    expect(await page.locator('.failure').count()).toBe(0);
    expect(web.provider.calls).toHaveLength(next);
    const requests = async () => {
      const response = await page.request.get(`http://localhost:${proxy.port}/api/v1/usage`);
      const { usage } = (await response.json()) as { usage: { requests: number }[] };
      return usage.map(({ requests: count }) => count);
    };
    await expect.poll(requests).toEqual([1]);
  }

  describe.each(Object.entries(SIZES))('on a screen of a %s', (_, viewport) => {
    it.each([5, 30, 120])(
      'a cut of %i seconds in mid-answer ends in the whole answer and one charge',
      async (seconds) => {
        await open(viewport);
        await page.clock.install();
        const latch = await beginAnswer();
        proxy.cut();
        await notice()
          .getByText(/^Connection lost\. Reconnecting… The last text arrived at .*\d:\d\d/)
          .waitFor();
        expect(await playground.announcement()).toContain('Connection lost. Reconnecting…');
        expect(await notice().isVisible()).toBe(true);
        await page.clock.fastForward(seconds * 500);
        latch.open();
        await page.clock.fastForward(seconds * 500);
        expect(await button('Stop').count()).toBe(1);
        proxy.restore();
        await page.clock.fastForward(10_000);
        await expectWholeAnswerOnce();
      },
    );
  });

  it('a silent connection counts as lost after some seconds', async () => {
    await open();
    await page.clock.install();
    const latch = await beginAnswer();
    proxy.abandon();
    latch.open();
    await page.clock.fastForward(21_000);
    await notice().getByText('Connection lost.').waitFor();
    // The browser may try connections that are dead, too.
    const attempts = setInterval(() => void page.clock.fastForward(5_000).catch(() => undefined), 200);
    await expectWholeAnswerOnce().finally(() => {
      clearInterval(attempts);
    });
  });

  it('the answer goes on at once when the browser is online again', async () => {
    await open();
    const latch = await beginAnswer();
    await page.clock.install();
    await page.clock.pauseAt(new Date(Date.now() + 3_600_000));
    await page.context().setOffline(true);
    await notice().getByText('Connection lost.').waitFor();
    await inEachForm(page, 'playground-reconnecting');
    latch.open();
    // The clock of the page stands still, so no pause ends by itself.
    const continued = page.waitForResponse('**/api/v1/chat/streams/*');
    await page.context().setOffline(false);
    expect((await continued).status()).toBe(200);
    await page.clock.resume();
    await expectWholeAnswerOnce();
  });

  it('a reload during the cut fetches the missing text', async () => {
    await open();
    const latch = await beginAnswer();
    proxy.cut();
    await notice().getByText('Connection lost.').waitFor();
    latch.open();
    // The page does not get the rest before it is reloaded.
    await page.route('**/api/**', (route) => route.abort());
    proxy.restore();
    await page.reload({ waitUntil: 'commit' });
    await page.unroute('**/api/**');
    await expectWholeAnswerOnce();
  });

  it('a request whose response was lost is sent again with its key, also after a reload', async () => {
    await open();
    const keys: (string | undefined)[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/chat/stream')) keys.push(request.headers()['idempotency-key']);
    });
    const latch = new Latch();
    web.provider.next(async (call) => {
      await latch.opened;
      call.head().text('The first half, ').text('and the rest.').finish().endMarker().end();
    });
    await playground.send('All of it!');
    await web.provider.call(next);
    proxy.cut();
    await notice().getByText('No text has arrived yet.').waitFor();
    proxy.restore();
    await page.reload();
    latch.open();
    await expectWholeAnswerOnce();
    expect(keys.length).toBeGreaterThan(1);
    expect(new Set(keys).size).toBe(1);
  });

  it('Try again fetches the missing text after a refusal', async () => {
    await open();
    const latch = await beginAnswer();
    await page.route('**/api/v1/chat/streams/*', (route) => route.fulfill({ status: 401, json: {} }));
    proxy.cut();
    await failure().getByText('You are signed out').waitFor();
    latch.open();
    proxy.restore();
    await page.unroute('**/api/v1/chat/streams/*');
    await button('Try again').click();
    await expectWholeAnswerOnce();
  });

  it('an answer that the service no longer stores is generated again only when the user confirms', async () => {
    await open();
    const latch = await beginAnswer();
    const gone = { error: { code: 'not_found', message: 'There is no such stream.' } };
    await page.route('**/api/v1/chat/streams/*', (route) => route.fulfill({ status: 404, json: gone }));
    proxy.cut();
    latch.open();
    proxy.restore();
    await failure().getByText('The rest of the answer is no longer available').waitFor();
    await page.reload();
    await failure().getByText('The rest of the answer is no longer available').waitFor();
    await playground.answerIs('The first half, ');
    expect(web.provider.calls).toHaveLength(next);
    await button('Get a new answer').click();
    await playground.answerIs('Hello world');
    expect(web.provider.calls).toHaveLength(next + 1);
  });

  it('a failure keeps its text and its buttons over a reload', async () => {
    await open();
    web.provider.next((call) => {
      call.refuse(400);
    });
    await playground.send('One');
    await failure().getByText('The model rejected this request').waitFor();
    await page.reload();
    await failure().getByText('The model rejected this request').waitFor();
    web.provider.next((call) => {
      call.refuse(500);
    });
    await playground.send('Two');
    await failure().getByText('The model failed').waitFor();
    await page.reload();
    await failure().getByText('The model failed').waitFor();
    expect(await page.locator('.failure').count()).toBe(2);
    expect(await button('Edit message').count()).toBe(1);
    await expect.poll(() => button('Try again').isEnabled()).toBe(true);
    await button('Try again').click();
    await playground.answerIs('Hello world');
    expect((await web.provider.call(next + 2)).json['messages']).toEqual([{ role: 'user', content: 'Two' }]);
  });

  it('Undo after Edit restores the text of the message box', async () => {
    await open();
    await playground.ask('First?', 'Hello world');
    await page.getByLabel('Message').fill('A draft');
    await button('Edit').click();
    expect(await page.getByLabel('Message').inputValue()).toBe('First?\n\nA draft');
    expect(await playground.turns()).toBe(0);
    await button('Undo').click();
    expect(await page.getByLabel('Message').inputValue()).toBe('A draft');
    expect(await playground.turns()).toBe(2);
    await button('Edit').click();
    await page.getByLabel('Message').fill('First, in other words?');
    await button('Undo').click();
    expect(await page.getByLabel('Message').inputValue()).toBe('First, in other words?');
  });

  it('Stop without a connection stops the provider when there is one again', async () => {
    await open();
    await beginAnswer();
    proxy.cut();
    await notice().getByText('Connection lost.').waitFor();
    await button('Stop').click();
    await page.getByText('Stopped. This partial answer').waitFor();
    expect(await notice().textContent()).toBe('');
    proxy.restore();
    const call = await web.provider.call(next);
    await call.over;
    expect(call.abortedAt).toBeDefined();
  });
});
