import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { signedIn, type AccountSession } from '../support/account-session.js';
import { afterAll, beforeAll } from 'vitest';
import { setStage, type Stage, type StageOptions } from '../support/stage.js';
import { launchChromium } from './chromium.js';
import { complaintsOf } from './watched-page.js';

/** Less than a test has, so that what it waited for is told. */
const PAGE_TIMEOUT_MS = 12_000;

export interface OpenOptions extends BrowserContextOptions {
  readonly tier?: string;
  /** By default a new account's. */
  readonly account?: AccountSession;
  /** By default the service's own. */
  readonly origin?: string;
}

/** A page of somebody who is signed in, in a browser of its own. */
export interface SignedInPage {
  readonly page: Page;
  readonly account: AccountSession;
  /** See `complaintsOf`. */
  readonly complaints: string[];
}

/** The service before a scripted provider, and a browser. */
export class WebStage {
  stage!: Stage;
  private browser!: Browser;

  /** Starts the service and the browser before the tests of a suite, and stops them afterwards. */
  static forSuite(options: StageOptions | (() => Promise<StageOptions>) = {}): WebStage {
    const web = new WebStage();
    beforeAll(async () => {
      web.stage = await setStage(1, typeof options === 'function' ? await options() : options);
      web.browser = await launchChromium();
    }, 60_000);
    afterAll(() => web.clear());
    return web;
  }

  get provider() {
    return this.stage.provider;
  }

  /** By a name to which browsers send secure cookies without TLS. */
  get origin(): string {
    return this.stage.origin.replace('127.0.0.1', 'localhost');
  }

  async open(
    path: string,
    { tier, account, origin = this.origin, ...options }: OpenOptions = {},
  ): Promise<SignedInPage> {
    const person = account ?? (await signedIn(this.stage.service, tier));
    const context = await this.browser.newContext(options);
    const page = await context.newPage();
    page.setDefaultTimeout(PAGE_TIMEOUT_MS);
    await this.signIn(page, person);
    const complaints = complaintsOf(page);
    await page.goto(origin + path);
    return { page, account: person, complaints };
  }

  /** Opens an address in a browser that nobody is signed in to. */
  async visit(url: string): Promise<Pick<SignedInPage, 'page' | 'complaints'>> {
    const page = await (await this.browser.newContext()).newPage();
    page.setDefaultTimeout(PAGE_TIMEOUT_MS);
    const complaints = complaintsOf(page);
    await page.goto(url);
    return { page, complaints };
  }

  async signIn(page: Page, { cookie }: AccountSession): Promise<void> {
    const url = this.origin.replace('http:', 'https:');
    await page.context().addCookies([{ ...cookie, url, secure: true, httpOnly: true, sameSite: 'Lax' }]);
  }

  private async clear(): Promise<void> {
    await this.browser.close();
    await this.stage.clear();
  }
}
