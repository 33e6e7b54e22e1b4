import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { testUsageRecord } from '../support/usage-records.js';
import type { UsageRecord } from '../../src/usage/record/usage-record.js';
import { UsageStore } from '../../src/usage/store/usage-store.js';
import { signedIn, type AccountSession } from '../support/account-session.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { WebStage } from './web-stage.js';

const DAY_MS = 86_400_000;
const MODELS = ['acme/fast', 'acme/thoughtful-and-with-a-long-name', 'other/model'];
const price = { inputPerMillion: 0.5, outputPerMillion: 2, currency: 'USD' };

function recordOf({ accountId }: AccountSession, parts: Partial<UsageRecord> & Pick<UsageRecord, 'startedAt'>) {
  const { startedAt } = parts;
  return testUsageRecord({
    ...{
      accountId,
      credential: 'session',
      keyId: undefined,
      keyPrefix: undefined,
      model: 'acme/fast',
      upstream: 'acme',
    },
    ...{ firstTextAt: startedAt, endedAt: startedAt, finishReason: 'stop', price, ...parts },
  });
}

describe.skipIf(!hasChromium)('the usage page in Chromium', () => {
  const limits = { requests_per_minute: 20, concurrent_streams: 2, tokens_per_day: 2_000_000, max_tokens: 4096 };
  const web = WebStage.forSuite({ price: { input_per_million: 0.5, output_per_million: 2 }, tiers: { free: limits } });
  let busy: AccountSession;

  beforeAll(async () => {
    busy = await signedIn(web.stage.service);
    await use(busy);
  }, 60_000);

  /** Three months of somebody's work, always the same. */
  async function use(account: AccountSession): Promise<void> {
    const { app } = web.stage.service;
    const keys = app.get(ApiKeysService, { strict: false });
    const names = ['laptop', 'The billing job on the server in the basement', 'old laptop'];
    const made = await Promise.all(names.map((name) => keys.create(account.accountId, { name })));
    await keys.revoke(made[2]?.id ?? '');
    const records = Array.from({ length: 900 }, (_, index): UsageRecord => {
      const key = made[index % 4];
      const inputTokens = 300 + ((index * 37) % 2000);
      const outputTokens = 100 + ((index * 91) % 4000);
      return recordOf(account, {
        credential: key === undefined ? 'session' : 'api_key',
        keyId: key?.id,
        keyPrefix: key?.key.slice(0, 12),
        model: MODELS[index % 7 === 0 ? 1 : index % 11 === 0 ? 2 : 0] ?? '',
        startedAt: Date.now() - ((index * index * 7) % 90) * DAY_MS,
        outcome: index % 13 === 0 ? 'upstream_failed' : index % 17 === 0 ? 'client_gone' : 'completed',
        inputTokens: { source: 'reported', count: inputTokens },
        outputTokens: { source: index % 17 === 0 ? 'estimated' : 'reported', count: outputTokens },
        costMicros: inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion,
      });
    });
    const store = app.get(UsageStore, { strict: false });
    for (let first = 0; first < records.length; first += 100) await store.append(records.slice(first, first + 100));
  }

  it('is accessible, full and empty', async () => {
    const full = await web.open('/usage', { account: busy });
    await expectAccessible(full.page, 'usage');
    await full.page.getByRole('link', { name: '90 days' }).click();
    await full.page.waitForURL('**/usage?days=90');
    await expectAccessible(full.page, 'usage-90-days');
    expect(full.complaints).toEqual([]);
    await full.page.context().close();

    const empty = await web.open('/usage');
    await empty.page.getByText('No usage in this period').waitFor();
    await expectAccessible(empty.page, 'usage-empty');
    expect(empty.complaints).toEqual([]);
    await empty.page.context().close();
  }, 120_000);

  it('needs no JavaScript, and its links can be followed with the keyboard', async () => {
    const { page } = await web.open('/usage', { account: busy, javaScriptEnabled: false });
    expect(await page.getByRole('table').count()).toBe(4);
    await page.getByText('By day', { exact: true }).click();
    await page.getByRole('table', { name: 'By day, latest first' }).waitFor();
    const link = page.getByRole('link', { name: '7 days' });
    await link.focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/usage?days=7');
    expect(await page.getByRole('link', { name: '7 days' }).getAttribute('aria-current')).toBe('true');
    await page.context().close();
  });

  it('says in words what its charts show, and names what its tables hold', async () => {
    const { page } = await web.open('/usage', { account: busy });
    const charts = page.getByRole('img');
    expect(await charts.count()).toBe(3);
    expect(await page.getByRole('img', { name: /^Requests per day/ }).getAttribute('aria-label')).toMatch(
      /^Requests per day, [\d-]+ to [\d-]+: at most \d+, on [\d-]+\./,
    );
    const table = page.getByRole('table', { name: 'By model' });
    expect(await table.getByRole('columnheader').allTextContents()).toEqual([
      'Model',
      'Requests',
      'Errors',
      'Input tokens',
      'Output tokens',
      'Cost',
    ]);
    expect(await table.getByRole('rowheader').count()).toBe(MODELS.length + 1);
    await page.context().close();
  });

  it('shows the limits of the tier, then the cost, then the tables, and the table by day only after a click', async () => {
    const { page } = await web.open('/usage', { account: busy });
    const tops = await Promise.all(
      [
        page.getByRole('table', { name: 'Limits and remaining quota' }),
        page.locator('.figures'),
        page.getByRole('img', { name: /^Cost per day/ }),
        page.getByRole('table', { name: 'By model' }),
      ].map(async (part) => (await part.boundingBox())?.y ?? 0),
    );
    expect(tops).toEqual(tops.toSorted((one, other) => one - other));
    const byDay = page.getByRole('table', { name: 'By day, latest first' });
    expect(await byDay.isVisible()).toBe(false);
    await page.getByText('By day', { exact: true }).click();
    await byDay.waitFor();
    await page.context().close();
  });

  it('aligns the axes of its charts', async () => {
    const { page } = await web.open('/usage', { account: busy, viewport: { width: 1280, height: 800 } });
    const axes = await page
      .locator('.chart .axis')
      .evaluateAll((lines) => lines.map((line) => Math.round(line.getBoundingClientRect().top)));
    expect(axes).toHaveLength(3);
    expect(new Set(axes).size).toBe(1);
    await page.context().close();
  });

  it('shows costs with two decimals from one unit on, and smaller costs with the fewest that tell them', async () => {
    const { page } = await web.open('/usage', { account: busy });
    const costs = (await page.locator('.figures strong, .number').allInnerTexts()).filter((text) => text.includes('$'));
    expect(costs.length).toBeGreaterThan(15);
    for (const text of costs) {
      const [, amount = '', decimals = ''] = /\$([\d,]+\.(\d+))$/.exec(text) ?? [];
      const isSmall = Number(amount.replaceAll(',', '')) < 1;
      expect([text, isSmall ? ['2', '4', '6'] : ['2']]).toEqual([text, expect.arrayContaining([`${decimals.length}`])]);
    }
    await page.context().close();
  });

  it('explains the signs of its figures once, at their end', async () => {
    const { page } = await web.open('/usage', { account: busy });
    await page.getByText('By day', { exact: true }).click();
    const used = page.getByRole('region', { name: 'Your usage' });
    expect(await used.getByText('≈').count()).toBeGreaterThan(4);
    const notes = used.locator('.notes');
    expect(await notes.allInnerTexts()).toEqual([
      '≈ Partly estimated, because the provider did not report all token counts.',
    ]);
    expect(await notes.evaluate((note) => note.nextElementSibling)).toBeNull();
    expect(await page.getByText('estimated, because').count()).toBe(1);
    await page.context().close();
  });

  it('shows times in the time zone of the browser, with the zone, and in UTC to a pointer', async () => {
    const { page } = await web.open('/usage/requests?days=90', { account: busy, timezoneId: 'America/New_York' });
    const time = page.getByRole('table', { name: 'Requests, latest first' }).locator('time').first();
    const [text, at, title] = [
      await time.innerText(),
      await time.getAttribute('datetime'),
      await time.getAttribute('title'),
    ];
    expect(text).toMatch(/^\d+ \w+ \d{4}, \d\d:\d\d:\d\d GMT-[45]$/);
    expect(title).toMatch(/^\d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC$/);
    expect(Date.parse(text.replace(/GMT-(\d)$/, 'GMT-0$100'))).toBe(Math.floor(Date.parse(at ?? '') / 1000) * 1000);
    await page.context().close();
  });

  it('shows the values of a day by keyboard, pointer and touch, in a box next to the bar', async () => {
    const { page, complaints } = await web.open('/usage?days=7', { account: busy, hasTouch: true });
    const chart = page.locator('.chart').filter({ hasText: 'Requests per day' });
    const drawing = chart.getByRole('img');
    const readout = chart.getByRole('status');
    await drawing.focus();
    await page.keyboard.press('Home');
    const first = await readout.innerText();
    expect(first).toMatch(/^\d+ \w+: (nothing|Complete \d+)/);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => readout.innerText()).not.toBe(first);
    const box = await drawing.boundingBox();
    await page.touchscreen.tap((box?.x ?? 0) + 3, (box?.y ?? 0) + 20);
    await expect.poll(() => readout.innerText()).toBe(first);
    const frame = await drawing.boundingBox();
    const shown = await readout.boundingBox();
    const bar = await chart.locator('.day.chosen').boundingBox();
    expect((shown?.x ?? 0) - ((bar?.x ?? 0) + (bar?.width ?? 0))).toBeCloseTo(4, 0);
    expect(shown?.y).toBeGreaterThanOrEqual((frame?.y ?? 0) - 1);
    expect((shown?.y ?? 0) + (shown?.height ?? 0)).toBeLessThanOrEqual((frame?.y ?? 0) + (frame?.height ?? 0) + 1);
    await page.keyboard.press('End');
    const last = await readout.boundingBox();
    expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThan((frame?.x ?? 0) + (frame?.width ?? 0));
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('shows the cost of chosen days by key, of up to three days by hour, also as a file', async () => {
    const eve = await signedIn(web.stage.service);
    const { app } = web.stage.service;
    const key = await app.get(ApiKeysService, { strict: false }).create(eve.accountId, { name: 'laptop' });
    const client = { credential: 'api_key', keyId: key.id, keyPrefix: key.key.slice(0, 12) } as const;
    const costs = { inputTokens: { source: 'reported', count: 10 }, costMicros: 250_000 } as const;
    await app
      .get(UsageStore, { strict: false })
      .append([
        recordOf(eve, { startedAt: Date.parse('2026-11-20T14:10:00Z'), ...client, ...costs }),
        recordOf(eve, { startedAt: Date.parse('2026-11-20T14:50:00Z'), ...client, ...costs }),
        recordOf(eve, { startedAt: Date.parse('2026-11-21T08:00:00Z'), ...costs }),
        recordOf(eve, { startedAt: Date.parse('2026-11-23T08:00:00Z'), ...costs }),
      ]);
    const { page, complaints } = await web.open('/usage', { account: eve, timezoneId: 'Asia/Kolkata' });
    const show = async (from: string, to: string) => {
      await page.getByLabel('From (UTC)').fill(from);
      await page.getByLabel('To (UTC)').fill(to);
      await page.getByLabel('Cost by').selectOption('Key');
      await page.getByRole('button', { name: 'Show' }).click();
    };
    await show('2026-11-20', '2026-11-21');
    const chart = page.locator('.chart').filter({ hasText: 'Cost per hour' });
    expect(await chart.locator('.legend').innerText()).toMatch(/^laptop \(csk_.*…\)\s+Playground \(session\)$/);
    await chart.getByRole('img', { name: /at most \$0\.50, on 20 Nov 2026, 14:00 UTC\. The table by hour/ }).focus();
    await page.keyboard.press('Home');
    for (let hour = 0; hour < 14; hour++) await page.keyboard.press('ArrowRight');
    expect(await chart.getByRole('status').innerText()).toMatch(/^20 Nov 2026, 19:30 GMT\+5:30: laptop .* \$0\.50$/);
    await page.getByText('By hour', { exact: true }).click();
    const byHour = page.getByRole('table', { name: 'By hour, latest first' });
    expect(await byHour.getByRole('rowheader').allInnerTexts()).toEqual([
      '21 Nov 2026, 13:30 GMT+5:30',
      '20 Nov 2026, 19:30 GMT+5:30',
      'Total',
    ]);
    await expectAccessible(page, 'usage-by-hour');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download CSV' }).click(),
    ]);
    const lines = (await text(await download.createReadStream())).trim().split('\r\n');
    expect(lines.map((line) => line.split(',')[0])).toEqual([
      'hour',
      '2026-11-20T14:00:00.000Z',
      '2026-11-21T08:00:00.000Z',
    ]);

    await show('2026-11-20', '2026-11-23');
    await page.getByText('Cost per day', { exact: true }).waitFor();
    expect(await page.locator('.figures').innerText()).toMatch(/These days\s+≈ \$1\.00\s+4 requests/);
    expect(complaints).toEqual([]);
    await page.context().close();
  }, 60_000);

  it('reads times in the time zone in which the page shows them, and keeps UTC in its address', async () => {
    const eve = await signedIn(web.stage.service);
    const startedAt = Date.parse('2026-11-26T14:03:20.000Z');
    await web.stage.service.app
      .get(UsageStore, { strict: false })
      .append([recordOf(eve, { startedAt }), recordOf(eve, { startedAt: startedAt + 3_600_000 })]);
    const { page } = await web.open('/usage/requests', { account: eve, timezoneId: 'Asia/Kolkata' });
    await page.getByLabel('From (GMT+5:30)').fill('2026-11-26 19:33');
    await page.getByLabel('To (GMT+5:30)').fill('2026-11-26 19:33:20');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL('**/usage/requests?from=2026-11-26+14%3A03&to=2026-11-26+14%3A03%3A20&**');
    const rows = page.getByRole('table', { name: 'Requests, latest first' }).getByRole('row');
    expect(await rows.count()).toBe(2);
    expect(await rows.last().getByRole('rowheader').innerText()).toContain('19:33:20');
    expect(await page.getByLabel('From (GMT+5:30)').inputValue()).toBe('2026-11-26 19:33');
    await page.getByLabel('From (GMT+5:30)').fill('2026-11-26');
    await page.getByLabel('To (GMT+5:30)').fill('2026-11-26');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL('**/usage/requests?from=2026-11-25+18%3A30&to=2026-11-26+18%3A29&**');
    expect(await rows.count()).toBe(3);
    await page.context().close();
  });

  it('shows one model or one key, lists requests, and leads to receipts', async () => {
    const { page, complaints } = await web.open('/usage', { account: busy });
    await page.getByLabel('Model', { exact: true }).selectOption('acme/fast');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL('**/usage?days=30&model=acme%2Ffast&key=');
    expect(await page.getByRole('table', { name: 'By model' }).getByRole('rowheader').count()).toBe(2);
    await page.getByRole('link', { name: 'All requests' }).click();
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
    await expectAccessible(page, 'requests');
    await page.getByRole('table').getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Receipt' }).waitFor();
    await expectAccessible(page, 'receipt');
    expect(complaints).toEqual([]);
    await page.context().close();
  }, 120_000);
});
