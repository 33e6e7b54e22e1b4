import { beforeAll, describe, expect, it } from 'vitest';
import { operatorSignedIn, type AccountSession } from '../support/account-session.js';
import { stream } from '../support/sse-client.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { WebStage } from './web-stage.js';

describe.skipIf(!hasChromium)('the status page in Chromium', () => {
  const web = WebStage.forSuite({ tiers: { free: { requests_per_minute: 3 } } });
  let operator: AccountSession;

  beforeAll(async () => {
    operator = await operatorSignedIn(web.stage.service);
  }, 60_000);

  it('shows a provider that hangs before its attempts time out', async () => {
    web.provider.next((call) => void call.head());
    const next = web.provider.calls.length + 1;
    const { key } = await web.stage.service.createKey();
    const waiting = stream(web.stage.origin, { key });
    const call = await web.provider.call(next);
    const { page } = await web.open('/operator/status', { account: operator });
    const late = page.getByRole('table', { name: 'The first text is late' });
    // The page updates every ten seconds.
    await late.getByText(/^1, the longest for \d+ s$/).waitFor({ timeout: 30_000 });
    call.text('Hello').finish().endMarker().end();
    await waiting;
    await late.waitFor({ state: 'detached', timeout: 30_000 });
    await page.context().close();
  }, 120_000);

  it('shows upstreams with the reason of their state, refusals, errors, and the address of the operator', async () => {
    const { page, complaints } = await web.open('/usage', { account: operator });
    await page.clock.install();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Status' }).click();
    await page.getByRole('heading', { name: 'Status' }).waitFor();
    const main = page.getByRole('main');
    expect(await main.innerText()).toMatch(/Your address as seen by the service\s+127\.0\.0\.1/);
    expect(await main.innerText()).toMatch(/Database\s+Available/i);
    expect(await main.innerText()).toMatch(/Redis\s+Not configured/);
    await main.getByText('None since the start.').first().waitFor();

    web.provider.next((call) => {
      call.refuse(429, { 'retry-after': '120' });
    });
    for (let count = 0; count < 4; count++) await stream(web.stage.origin, { key: web.stage.key });
    // The page updates by itself.
    await page.clock.fastForward(10_000);
    const unavailable = page.getByRole('table', { name: 'Not available now' });
    await unavailable
      .getByText(/until \d\d:\d\d:\d\d UTC, as the provider asked since \d.* UTC \(\d+ s\), after upstream_unavailable/)
      .waitFor();
    const refusals = page.getByRole('table', { name: 'Refused by a limit' });
    await refusals.getByRole('row', { name: 'requests_per_minute free 1' }).waitFor();
    const errors = page.getByRole('table', { name: 'Errors', exact: true });
    await errors.getByRole('row', { name: 'upstream_unavailable' }).waitFor();
    // The charts have the present minute, and their readout works after the update.
    const chart = page.getByRole('img', { name: /^Errors per minute/ });
    await chart.focus();
    await chart.press('End');
    await page.locator('.chart-readout', { hasText: /^\d\d:\d\d: Errors \d+, Refused 1$/ }).waitFor();
    await chart.blur();
    await page.getByText('All 2 upstreams and routes').click();
    await page.getByRole('table', { name: 'All upstreams and routes' }).waitFor();
    await page.getByText('By minute').click();
    await page.getByRole('table', { name: 'By minute, latest first' }).waitFor();
    // What the user has opened stays open.
    await page.clock.fastForward(10_000);
    await page.getByRole('table', { name: 'All upstreams and routes' }).waitFor();
    // It also updates while the focus is in a table, which stays there, and says when it is not up to date.
    const scroller = page.getByRole('group', { name: 'By minute, latest first' });
    await scroller.focus();
    const shownAt = await main.getByText(/^At \d/).innerText();
    await expect
      .poll(async () => {
        await page.clock.fastForward(10_000);
        return main.getByText(/^At \d/).innerText();
      })
      .not.toBe(shownAt);
    expect(await scroller.evaluate((table) => table === document.activeElement)).toBe(true);
    await page.route('**/operator/status', (route) => route.abort());
    await page.clock.fastForward(10_000);
    await main.getByText('The service cannot be reached: the page is not up to date.').waitFor();
    await page.unroute('**/operator/status');
    await page.clock.fastForward(10_000);
    await main.getByText('The page updates every 10 seconds.').waitFor();
    expect(complaints.filter((each) => !each.includes('ERR_FAILED'))).toEqual([]);
    await expectAccessible(page, 'operator-status');
    await page.context().close();
  }, 120_000);

  it('closes a circuit and probes a route, and the audit log keeps both', async () => {
    // The test before has left a cooldown.
    const elsewhere = await web.open('/operator/status', { account: operator, timezoneId: 'Asia/Kolkata' });
    await elsewhere.page
      .getByText(/until [\d:]{8} GMT\+5:30, as the provider asked since [\d:]{8} GMT\+5:30/)
      .first()
      .waitFor();
    await elsewhere.page.context().close();
    const { page, complaints } = await web.open('/operator/status', { account: operator });
    const unavailable = page.getByRole('table', { name: 'Not available now' });
    await unavailable.getByRole('button', { name: 'Close circuit' }).click();
    await page.getByText('The circuit was closed.').waitFor();
    await unavailable.waitFor({ state: 'detached' });
    await page.getByText('All 2 upstreams and routes').click();
    const all = page.getByRole('table', { name: 'All upstreams and routes' });
    await all.getByText(/last error at [\d:]{8} UTC: upstream_unavailable/).waitFor();
    await expectAccessible(page, 'operator-status-all-routes');

    web.provider.next((call) => {
      call.refuse(401, {}, JSON.stringify({ error: { message: 'No.', code: 'invalid_api_key' } }));
    });
    await all.getByRole('button', { name: 'Probe' }).click();
    await page.getByText(/unauthorized, HTTP 401, invalid_api_key\): the provider refuses the key/).waitFor();
    await expectAccessible(page, 'operator-probe');
    await page.getByRole('button', { name: 'Probe again' }).click();
    await page.getByText('Answered').waitFor();

    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Audit log' }).click();
    await page.getByLabel('Action').selectOption('route.probed');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('route acme acme-model').first().waitFor();
    expect(await page.getByRole('table').getByRole('rowheader').count()).toBe(2);
    expect(complaints).toEqual([]);
    await page.context().close();
  }, 120_000);

  it('works without scripts as a page that one reloads', async () => {
    const { page } = await web.open('/operator/status', { account: operator, javaScriptEnabled: false });
    await page.getByText('Reload the page to update it.').waitFor();
    expect(await page.getByText('The page updates every 10 seconds.').isVisible()).toBe(false);
    await page.getByText('By minute').click();
    await page.getByRole('table', { name: 'By minute, latest first' }).waitFor();
    await page.context().close();
  });
});
