import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type RunningService } from '../support/service.js';
import { RealIssuer } from '../support/single-sign-on/real-issuer.js';
import { freePort } from '../support/single-sign-on/sign-on-stage.js';
import { COOKIE_NAME } from '../support/web-client.js';
import { PASSWORD } from '../support/usual-password.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium, launchChromium } from './chromium.js';
import { complaintsOf } from './watched-page.js';

const PEOPLE = {
  ada: { email: 'ada@example.com', email_verified: true, tier: 'pro', groups: ['operators'] },
  grace: { email: 'grace@example.com', email_verified: true },
  mallory: { email: 'local@example.com', email_verified: true },
  linda: { email: 'linda@corp.example', email_verified: true },
};

describe.skipIf(!hasChromium)('in Chromium, single sign-on with oidc-provider', () => {
  let browser: Browser;
  let issuer: RealIssuer;
  let service: RunningService;
  let origin: string;

  beforeAll(async () => {
    const port = await freePort();
    origin = `http://localhost:${port}`;
    issuer = await RealIssuer.start(origin, PEOPLE);
    const env = {
      ...issuer.env(origin),
      HOST: 'localhost',
      PORT: String(port),
      OIDC_TIER_CLAIM: 'tier',
      OIDC_OPERATOR_CLAIM: 'groups=operators',
    };
    service = await startService({ tiers: { free: {}, pro: {} }, env });
    browser = await launchChromium();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await service.stop();
    await issuer.stop();
  });

  const open = async (path: string): Promise<{ page: Page; complaints: string[] }> => {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(12_000);
    const complaints = complaintsOf(page);
    await page.goto(origin + path);
    return { page, complaints };
  };
  /** Signs in at the issuer, whose form asks for a name. */
  const signInAs = async (page: Page, name: string) => {
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Go on' }).click();
  };
  const signedInAs = async (name: string, path = '/usage') => {
    const opened = await open(path);
    await opened.page.getByRole('button', { name: 'Continue with single sign-on' }).click();
    await signInAs(opened.page, name);
    await opened.page.waitForURL(`${origin}${path}`);
    return opened;
  };

  it('signs a person in, with tier and role, and opens the page that was asked for', async () => {
    const { page, complaints } = await signedInAs('ada', '/usage?days=7');
    const header = page.getByRole('banner');
    expect(await header.innerText()).toContain('ada@example.com');
    expect(await header.innerText()).toContain('pro');
    expect(await page.getByRole('link', { name: 'Accounts' }).count()).toBe(1);
    const cookies = (await page.context().cookies()).filter(({ name }) => name === COOKIE_NAME);
    expect(cookies).toMatchObject([{ httpOnly: true, secure: true, sameSite: 'Lax', path: '/' }]);
    expect(complaints).toEqual([]);

    // The "Back" button leads to the callback, which changes nothing.
    await page.goBack();
    await page.goto(`${origin}/usage`);
    expect(await header.innerText()).toContain('ada@example.com');
    await page.context().close();
  });

  it('signs a person out here and at the issuer', async () => {
    const { page, complaints } = await signedInAs('grace');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.waitForURL(/\/sign-in(?:\?.*)?$/);
    await page.getByRole('button', { name: 'Continue with single sign-on' }).click();
    // The issuer asks again.
    await page.getByLabel('Name').waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('ends the session in every browser of the same sign-in when the issuer says so', async () => {
    const { page } = await signedInAs('grace');
    const other = await signedInAs('grace');
    await page.goto(`${issuer.url}/session/end`);
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await expect
      .poll(async () => {
        await page.goto(`${origin}/usage`);
        return page.url();
      })
      .toContain('/sign-in');
    // That browser has a session of its own at the issuer.
    await other.page.reload();
    expect(other.page.url()).toBe(`${origin}/usage`);
    await page.context().close();
    await other.page.context().close();
  });

  it('links and unlinks an account with a password on the account page', async () => {
    const { page, complaints } = await open('/sign-up');
    await page.getByLabel('Email').fill('linker@example.com');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.waitForURL(`${origin}/`);
    await page.goto(`${origin}/settings/account`);
    await expectAccessible(page, 'account-not-linked');
    await page.getByRole('button', { name: 'Link account' }).click();
    await signInAs(page, 'linda');
    await page.getByText('Your account is linked.').waitFor();
    await page.getByText('as linda@corp.example').waitFor();
    await expectAccessible(page, 'account-linked');

    const { page: other } = await signedInAs('linda', '/settings/account');
    expect(await other.getByRole('banner').innerText()).toContain('linker@example.com');
    await page.getByRole('button', { name: 'Unlink account' }).click();
    await page.getByText('not linked to single sign-on any more').waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
    await other.context().close();
  });

  it('has pages that everyone can use', async () => {
    const { page } = await open('/sign-in');
    await expectAccessible(page, 'sign-in-with-single-sign-on');
    await page.context().close();
  });
});
