import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorSignedIn, type AccountSession } from '../support/account-session.js';
import { stream } from '../support/sse-client.js';
import { expectNoComplaint } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { screenshot } from './screenshots.js';
import { WebStage } from './web-stage.js';

const FOR_VISITORS = ['/', '/sign-in', '/sign-up', '/docs', '/docs/http-api', '/docs/compatible-apis', '/nowhere'];
const FOR_MEMBERS = [
  ...['/', '/settings/api-keys', '/settings/account', '/settings/activity', '/playground'],
  ...['/usage', '/usage/requests', '/docs'],
];
const FOR_OPERATORS = [
  ...['/operator/accounts', '/operator/accounts/new', '/operator/invitations/new', '/operator/keys'],
  ...['/operator/requests', '/operator/audit', '/operator/status', '/operator/webhooks'],
];
const FORMS = [
  { width: 320, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
] as const;

describe.skipIf(!hasChromium)('every page in Chromium', () => {
  let web: WebStage;
  let operator: AccountSession;

  beforeAll(async () => {
    web = await WebStage.set();
    operator = await operatorSignedIn(web.stage.service);
    await stream(web.stage.origin, { key: web.stage.key });
  }, 60_000);
  afterAll(() => web.clear());

  const lookAt = async (page: Page, paths: readonly string[], who: string) => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    for (const path of paths) {
      await page.goto(web.origin + path);
      for (const { width, colorScheme } of FORMS) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        const title = `${who} ${path} ${width} ${colorScheme}`;
        await screenshot(page, title.replaceAll(/\W+/g, '-'));
        await expectNoComplaint(page, title);
      }
    }
    expect(page.url()).toBe(web.origin + (paths.at(-1) ?? ''));
    await page.context().close();
  };

  it('has no complaint of axe and no sideways scrolling, on a narrow phone and wide, for visitors', async () => {
    await lookAt((await web.visit(web.origin)).page, FOR_VISITORS, 'visitor');
  }, 240_000);

  it('has none for members', async () => {
    await lookAt((await web.open('/usage')).page, FOR_MEMBERS, 'member');
  }, 240_000);

  it('has none for operators', async () => {
    await lookAt((await web.open('/usage', { account: operator })).page, FOR_OPERATORS, 'operator');
  }, 240_000);
});
