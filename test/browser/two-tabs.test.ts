import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signedIn } from '../support/account-session.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium, launchChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { WebStage } from './web-stage.js';

describe.skipIf(!hasChromium)('two tabs in Chromium', () => {
  let web: WebStage;

  beforeAll(async () => {
    web = await WebStage.set();
  }, 60_000);
  afterAll(() => web.clear());

  it('with two accounts: the tab of the first says who is signed in now, and sends nothing', async () => {
    const { page, account } = await web.open('/playground');
    const playground = new PlaygroundPage(page);
    await playground.ask('A secret of the first?', 'Hello world');
    const calls = web.provider.calls.length;
    const other = await signedIn(web.stage.service);
    await web.signIn(page, other);
    await playground.send('And another?');
    const failure = page.locator('.failure');
    await failure.getByText('You are signed in to another account').waitFor();
    await failure.getByText(`You are signed in as ${other.email} now.`).waitFor();
    await failure.getByText('Nothing was sent.').waitFor();
    expect(web.provider.calls).toHaveLength(calls);
    await expectAccessible(page, 'playground-other-account');

    await web.signIn(page, account);
    await page.getByRole('button', { name: 'Try again' }).click();
    await playground.answerIs('Hello world');
    await page.context().close();
  }, 120_000);

  it('with two accounts: a reload shows the second nothing of what the first has written', async () => {
    const { page, account } = await web.open('/playground');
    const playground = new PlaygroundPage(page);
    await playground.ask('A secret of the first?', 'Hello world');
    await page.getByLabel('System prompt').fill('A secret prompt');
    await web.signIn(page, await signedIn(web.stage.service));
    await page.reload();
    expect(await playground.turns()).toBe(0);
    expect(await page.getByLabel('System prompt').inputValue()).toBe('');

    await web.signIn(page, account);
    await page.reload();
    await playground.answerIs('Hello world');
    await page.context().close();
  }, 120_000);

  it('with two accounts: the form of the first makes no key for the second', async () => {
    const { page } = await web.open('/settings/api-keys');
    const other = await signedIn(web.stage.service);
    await web.signIn(page, other);
    await page.getByLabel('Name').fill('laptop');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('heading', { name: 'Signed in to another account' }).waitFor();
    await page.getByText(other.email).first().waitFor();
    await page.context().close();
  });
});

describe.skipIf(!hasChromium)('sign-in in Chromium at an address without TLS', () => {
  it('shows no password field, and says what to do', async () => {
    const web = await WebStage.set();
    const browser = await launchChromium(['--host-resolver-rules=MAP chat.lan 127.0.0.1']);
    const page = await browser.newPage();
    await page.goto(`${web.stage.origin.replace('127.0.0.1', 'chat.lan')}/playground`);
    await page.getByRole('heading', { name: 'HTTPS is required to sign in' }).waitFor();
    expect(await page.getByLabel('Password').count()).toBe(0);
    await expectAccessible(page, 'sign-in-without-tls');
    await browser.close();
    await web.clear();
  }, 120_000);
});
