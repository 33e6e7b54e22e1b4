import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SessionsService } from '../../src/accounts/sessions/sessions.service.js';
import { AccountsService } from '../../src/accounts/accounts/accounts.service.js';
import { routesTo } from '../support/catalog.js';
import { Latch } from '../support/latch.js';
import { hasChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { WebStage, type SignedInPage } from './web-stage.js';

const TIERS = {
  free: { max_tokens: 4096 },
  frugal: { budget: { amount: 0.5, per: 'day' } },
  slow: { requests_per_minute: 1 },
};

describe.skipIf(!hasChromium)('what goes wrong in the playground in Chromium', () => {
  const price = { input_per_million: 10, output_per_million: 100_000 };
  const web = WebStage.forSuite({
    tiers: TIERS,
    catalog: (providers) => {
      const catalog = routesTo(providers, {}, price);
      const unpriced = { ...catalog.models[0], id: 'acme/unpriced', name: 'Unpriced', price: undefined };
      return { ...catalog, models: [...catalog.models, unpriced] };
    },
  });
  let opened: SignedInPage;
  let page: Page;
  let playground: PlaygroundPage;
  /** The number of the provider's next call. */
  let next: number;
  beforeEach(() => open());
  afterEach(() => page.context().close());

  async function open(tier?: string): Promise<void> {
    next = web.provider.calls.length + 1;
    if (tier !== undefined) await page.context().close();
    opened = await web.open('/playground', tier === undefined ? {} : { tier });
    page = opened.page;
    playground = new PlaygroundPage(page);
  }

  const button = (name: string) => page.getByRole('button', { name });
  const failure = () => page.locator('.failure').last();

  it('an answer that breaks off stays, marked as incomplete, and can be had again', async () => {
    const seen = new Latch();
    web.provider.next(async (call) => {
      call.head().text('Half of');
      await seen.opened;
      await call.cut();
    });
    await playground.send('All of it!');
    await playground.answerIs('Half of');
    seen.open();
    await failure().getByText('The answer is incomplete').waitFor();
    expect(await playground.announcement()).toContain('The answer is incomplete');
    await playground.answerIs('Half of');
    await page.getByText('Incomplete. This exchange is not included as context.').waitFor();
    await button('Try again').click();
    await playground.answerIs('Hello world');
    expect(await page.locator('.answer').count()).toBe(2);
    expect(await page.locator('.failure').count()).toBe(0);
    expect((await web.provider.call(next + 1)).json['messages']).toEqual([{ role: 'user', content: 'All of it!' }]);
    expect(opened.complaints).toEqual([]);
  });

  it('a request that costs more than the budget can be sent with fewer tokens', async () => {
    await open('frugal');
    await page.getByLabel('Max tokens').fill('1000');
    await playground.send('Hi');
    await failure().getByText('Budget exceeded').waitFor();
    expect(await button('Try again').count()).toBe(0);
    const lower = page.getByRole('button', { name: /^Set max tokens to \d+ and retry$/ });
    const tokens = /\d+/.exec(await lower.innerText())?.[0];
    await lower.click();
    await playground.answerIs('Hello world');
    expect(await page.getByLabel('Max tokens').inputValue()).toBe(tokens);
    expect((await web.provider.call(next)).json['max_tokens']).toBe(Number(tokens));
  });

  it('a model without a price cannot be chosen with a budget, and says so if the budget comes later', async () => {
    const unpriced = page.locator('#model option[value="acme/unpriced"]');
    expect(await unpriced.isDisabled()).toBe(false);
    await page.getByLabel('Model').selectOption('acme/unpriced');
    await web.stage.service.app.get(AccountsService).setTier({ id: opened.account.accountId }, 'frugal');
    await playground.send('Hi');
    await failure().getByText('Model has no price').first().waitFor();
    await page.reload();
    expect(await unpriced.isDisabled()).toBe(true);
    expect(await unpriced.innerText()).toBe('Unpriced · acme/unpriced · 8,192 · no price, so not within your budget');
    expect(await page.getByLabel('Model').inputValue()).toBe('acme/fast');
    const facts = page.locator('#model-facts');
    expect(await facts.innerText()).toBe('acme/unpriced cannot be used now. Fast is selected instead.');
    await page.reload();
    expect(await facts.innerText()).toContain('$10.00 in, $100,000.00 out per million tokens');
  });

  it('an answer that ends without being done is incomplete, too', async () => {
    const body = 'data: {"content":"Half of","done":false}\n\n';
    await page.route('**/chat/stream', (route) => route.fulfill({ contentType: 'text/event-stream', body }));
    await playground.send('All of it!');
    await failure().getByText('The connection ended before the answer was complete.').waitFor();
    await playground.answerIs('Half of');
  });

  it('without a connection the message is sent when there is one', async () => {
    await page.context().setOffline(true);
    await playground.send('Hello!');
    await page
      .locator('.turn-connection', { hasText: 'Connection lost. Reconnecting… No text has arrived yet.' })
      .waitFor();
    await page.context().setOffline(false);
    await playground.answerIs('Hello world');
    expect(await page.locator('.answer').count()).toBe(1);
  });

  it('a request limit says which it is and when to try again', async () => {
    await open('slow');
    await page.clock.install();
    await playground.ask('One', 'Hello world');
    await playground.send('Two');
    await failure().getByText('Too many requests per minute').waitFor();
    await failure().getByText('The tier allows 1 request per minute.').waitFor();
    await failure()
      .getByText(/You can try again in (60|[45]\d) s, at .*\d/)
      .waitFor();
    expect(await button('Try again').isDisabled()).toBe(true);
    expect(await failure().getByRole('link').getAttribute('href')).toBe('/usage');
    await page.clock.fastForward('01:01');
    await expect.poll(() => button('Try again').isEnabled()).toBe(true);
    expect(await playground.announcement()).toBe('You can try again now.');
    expect(web.provider.calls).toHaveLength(next);
  });

  it('whose session has ended signs in again, and goes on', async () => {
    await playground.ask('One', 'Hello world');
    await web.stage.service.app.get(SessionsService, { strict: false }).end(opened.account.sessionId);
    await playground.send('Two');
    await failure().getByText('You are signed out').waitFor();
    const link = failure().getByRole('link', { name: 'Sign in again' });
    expect(await link.getAttribute('href')).toBe('/sign-in');
    expect(await link.getAttribute('target')).toBe('_blank');
    const { token } = await web.stage.service.app
      .get(SessionsService, { strict: false })
      .create(opened.account.accountId);
    await web.signIn(page, { ...opened.account, cookie: { name: opened.account.cookie.name, value: token } });
    await button('Try again').click();
    await playground.answerIs('Hello world');
    expect((await web.provider.call(next + 1)).json['messages']).toHaveLength(3);
  });

  it('a request that is refused can be edited, and not be tried again as it is', async () => {
    web.provider.next((call) => {
      call.refuse(400);
    });
    await playground.send('Something unspeakable');
    await failure().getByText('The model rejected this request').waitFor();
    expect(await button('Try again').count()).toBe(0);
    await button('Edit message').click();
    expect(await page.getByLabel('Message').inputValue()).toBe('Something unspeakable');
    expect(await playground.focusedId()).toBe('message');
    expect(await playground.turns()).toBe(0);
  });

  it('the browser itself refuses settings out of range', async () => {
    await page.getByLabel('Max tokens').fill('4097');
    await playground.send('Hello!');
    expect(await page.getByLabel('Max tokens').evaluate((field) => field.matches(':invalid'))).toBe(true);
    expect(await playground.turns()).toBe(0);
    expect(await page.getByLabel('Message').inputValue()).toBe('Hello!');
  });

  it('a validation error of the service is shown field by field', async () => {
    const field = page.getByLabel('Max tokens');
    await page.getByLabel('Message').fill('Hello!');
    await field.evaluate((input) => {
      input.removeAttribute('max');
      (input as HTMLInputElement).value = '4097';
    });
    await button('Send').click();
    await failure().getByText('Max tokens must not be above 4096').waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await field.fill('');
    await button('Edit message').click();
    await button('Send').click();
    await playground.answerIs('Hello world');
    expect(await field.getAttribute('aria-invalid')).toBeNull();
  });

  it('the buttons of a failure are gone once the conversation goes on', async () => {
    web.provider.next((call) => {
      call.refuse(500);
    });
    await playground.send('One');
    await failure().getByText('The model failed').waitFor();
    await playground.ask('Two', 'Hello world');
    expect(await button('Try again').count()).toBe(0);
    await failure().getByText('The model failed').waitFor();
    expect((await web.provider.call(next + 1)).json['messages']).toEqual([{ role: 'user', content: 'Two' }]);
  });
});
