import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { WebStage } from './web-stage.js';

const ANSWER = `Of course. Three things matter most:

1. Say what happened, not whose fault it was.
2. Offer one thing to do about it.
3. Lose nothing that was written.

    retry(request, { after: seconds });

Anything beyond that is decoration.`;

describe.skipIf(!hasChromium)('the playground in Chromium for everyone', () => {
  const web = WebStage.forSuite({ tiers: { free: { requests_per_minute: 2, max_tokens: 4096 } } });
  let page: Page;
  afterEach(() => page.context().close());

  it('is accessible in all its states', async () => {
    let complaints: string[];
    ({ page, complaints } = await web.open('/playground'));
    const playground = new PlaygroundPage(page);
    await expectAccessible(page, 'playground-empty');

    web.provider.next(
      (call) => {
        call.answer(ANSWER);
      },
      (call) => {
        call.head().text('First of all, ');
      },
    );
    await page.getByLabel('System prompt').fill('You write error messages.');
    await playground.send('What makes an error message good?');
    await expect.poll(() => playground.announcement()).toContain('complete');
    await playground.send('And in a chat?');
    await playground.answerIs('First of all, ');
    await expectAccessible(page, 'playground-answering');

    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped. This partial answer').waitFor();
    expect(complaints).toEqual([]);
    await playground.send('And now?');
    await page.locator('.failure').getByText('Too many requests per minute').waitFor();
    await expectAccessible(page, 'playground-limited');
  }, 120_000);

  it('does not move while an answer grows', async () => {
    ({ page } = await web.open('/playground'));
    const playground = new PlaygroundPage(page);
    const places = () =>
      page.evaluate(() =>
        [...document.querySelectorAll('.composer button, #ask textarea, #conversation, summary')].map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return [element.id, x, y, width, height];
        }),
      );
    const before = await places();
    web.provider.next((call) => {
      call.answer('A line of text.\n'.repeat(100));
    });
    await playground.send('Write!');
    await expect.poll(() => playground.announcement()).toContain('complete');
    expect(await places()).toEqual(before);
  });

  it('can be used with the keyboard alone', async () => {
    ({ page } = await web.open('/playground'));
    const playground = new PlaygroundPage(page);
    const tabTo = async (id: string) => {
      for (let presses = 0; presses < 40; presses++) {
        if ((await playground.focusedId()) === id) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`Nobody comes to ${id} with the keyboard.`);
    };
    await tabTo('model');
    await tabTo('message');
    web.provider.next((call) => {
      call.head().text('On and on');
    });
    await page.keyboard.type('Go on!');
    await page.keyboard.press('Enter');
    await playground.answerIs('On and on');
    await tabTo('send');
    await page.keyboard.press('Space');
    await expect.poll(() => playground.focusedId()).toBe('message');
    await tabTo('clear');
    await page.keyboard.press('Enter');
    await expect.poll(() => playground.turns()).toBe(0);
    expect(await playground.focusedId()).toBe('message');
    await tabTo('system');
    await tabTo('temperature');
    await tabTo('max-tokens');
  });
});
