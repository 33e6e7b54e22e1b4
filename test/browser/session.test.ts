import { Get, Header } from '@nestjs/common';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OutsideApi } from '../../src/platform/http/surface/surface.decorator.js';
import { Public } from '../../src/platform/http/routing/route-decorators.js';
import { MODEL } from '../support/catalog.js';
import { SignInPagesModule } from '../support/sign-in-pages.js';
import { setStage, type Stage } from '../support/stage.js';
import { TlsProxy } from '../support/tls-proxy.js';
import { COOKIE_NAME, EMAIL, WebClient } from '../support/web-client.js';
import { hasChromium, launchChromium } from './chromium.js';
import { PASSWORD } from '../support/usual-password.js';

const form = (action: string) => `<!doctype html><title>A form</title><form method="post" action="${action}">
  <input name="email" value="${EMAIL}"><input name="password" value="${PASSWORD}"><input type="hidden" name="next" value="/me"><button>Send</button></form>`;
const CHAT = {
  path: '/api/v1/chat/stream',
  body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello!' }] }),
};

@OutsideApi('forms')
class FormPages {
  @Get('sign-in')
  @Public()
  @Header('Content-Type', 'text/html')
  @Header('Referrer-Policy', 'same-origin')
  signIn() {
    return form('/sign-in');
  }
}

describe.skipIf(!hasChromium)('in Chromium, a session', () => {
  let stage: Stage;
  let browser: Browser;
  let proxy: TlsProxy;
  let port: string;
  /** A page of another origin that is same-site: a browser sends our cookie with its requests. */
  const stranger = createServer((request, response) => {
    const target = new URL(request.url ?? '', 'http://stranger').searchParams.get('target') ?? '';
    response.writeHead(200, { 'Content-Type': 'text/html' }).end(form(target));
  });

  beforeAll(async () => {
    const pages = { module: SignInPagesModule, controllers: [FormPages] };
    stage = await setStage(1, { modules: [pages], env: { TRUST_PROXY: '1', HOST: 'localhost' } });
    stage.provider.answers((call) => {
      call.answer('Hi');
    });
    await new WebClient(stage.origin).signUp();
    ({ port } = new URL(stage.origin));
    proxy = await TlsProxy.start(stage.origin, { 'x-forwarded-proto': 'https' });
    await new Promise<void>((resolve) => stranger.listen(0, 'localhost', resolve));
    browser = await launchChromium();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    stranger.close();
    await proxy.stop();
    await stage.clear();
  });

  const open = async (url: string): Promise<Page> => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await page.goto(url);
    return page;
  };
  /** The status that the form was answered with. */
  const send = async (page: Page) => {
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.click('button');
    return (await answered).status();
  };
  const emailIn = async (page: Page, origin: string) => {
    await page.goto(`${origin}/me`);
    return (JSON.parse(await page.innerText('body')) as { email: string | null }).email;
  };

  it.each([
    ['on http://localhost', () => `http://localhost:${port}`],
    ['behind a TLS proxy', () => `https://localhost:${proxy.port}`],
  ])('%s is started by a form, kept from scripts, and used by a script of a page', async (_, originOf) => {
    const origin = originOf();
    const page = await open(`${origin}/forms/sign-in`);
    expect(await send(page)).toBe(303);
    await page.waitForURL(`${origin}/me`);
    expect(await emailIn(page, origin)).toBe(EMAIL);

    expect(await page.context().cookies()).toMatchObject([
      { name: COOKIE_NAME, httpOnly: true, secure: true, sameSite: 'Lax', path: '/' },
    ]);
    expect(await page.evaluate('document.cookie')).toBe('');
    const answer = await page.evaluate(async ({ path, body }) => {
      const response = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
      return { status: response.status, body: await response.text() };
    }, CHAT);
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('"done":true');
    await page.context().close();
  });

  it('is of no use to a page of another port, whose requests carry its cookie', async () => {
    const origin = `http://localhost:${port}`;
    const page = await open(`${origin}/forms/sign-in`);
    await send(page);
    await page.waitForURL(`${origin}/me`);
    const calls = stage.provider.calls.length;

    const strange = `http://localhost:${(stranger.address() as AddressInfo).port}`;
    await page.goto(`${strange}/?target=${origin}/sign-out`);
    const [request, status] = await Promise.all([page.waitForRequest(`${origin}/sign-out`), send(page)]);

    expect((await request.allHeaders())['cookie']).toContain(COOKIE_NAME);
    expect(status).toBe(403);
    await page.goto(strange);
    await page.evaluate(
      async ({ url, body }) => {
        // Without a preflight, as a form could send it.
        await fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include', body });
      },
      { url: origin + CHAT.path, body: CHAT.body },
    );
    expect(stage.provider.calls).toHaveLength(calls);
    expect(await emailIn(page, origin)).toBe(EMAIL);
    await page.context().close();
  });
});
