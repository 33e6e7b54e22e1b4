import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import type { UsageRecord } from '../../src/usage/record/usage-record.js';
import { UsageStore } from '../../src/usage/store/usage-store.js';
import { signedIn, type AccountSession } from '../support/account-session.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { WebStage } from './web-stage.js';

const DAY_MS = 86_400_000;
const MODELS = ['acme/fast', 'acme/thoughtful-and-with-a-long-name', 'other/model'];
const price = { inputPerMillion: 0.5, outputPerMillion: 2, currency: 'USD' };

describe.skipIf(!hasChromium)('the usage page in Chromium', () => {
  let web: WebStage;
  let busy: AccountSession;

  beforeAll(async () => {
    const limits = { requests_per_minute: 20, concurrent_streams: 2, tokens_per_day: 2_000_000, max_tokens: 4096 };
    web = await WebStage.set({ price: { input_per_million: 0.5, output_per_million: 2 }, tiers: { free: limits } });
    busy = await signedIn(web.stage.service);
    await use(busy);
  }, 60_000);
  afterAll(() => web.clear());

  /** Three months of somebody's work, always the same. */
  async function use(account: AccountSession): Promise<void> {
    const { app } = web.stage.service;
    const keys = app.get(ApiKeysService, { strict: false });
    const names = ['laptop', 'The billing job on the server in the basement', 'old laptop'];
    const made = await Promise.all(names.map((name) => keys.create(account.accountId, { name })));
    await keys.revoke(made[2]?.id ?? '');
    const records = Array.from({ length: 900 }, (_, index): UsageRecord => {
      const key = made[index % 4];
      const startedAt = Date.now() - ((index * index * 7) % 90) * DAY_MS;
      const inputTokens = 300 + ((index * 37) % 2000);
      const outputTokens = 100 + ((index * 91) % 4000);
      return {
        id: randomUUID(),
        requestId: 'request',
        accountId: account.accountId,
        credential: key === undefined ? 'session' : 'api_key',
        keyId: key?.id,
        keyPrefix: key?.key.slice(0, 12),
        model: MODELS[index % 7 === 0 ? 1 : index % 11 === 0 ? 2 : 0] ?? '',
        startedAt,
        upstream: 'acme',
        attempts: [],
        firstTextAt: startedAt,
        endedAt: startedAt,
        outcome: index % 13 === 0 ? 'upstream_failed' : index % 17 === 0 ? 'client_gone' : 'completed',
        errorCode: undefined,
        finishReason: 'stop',
        inputTokens: { source: 'reported', count: inputTokens },
        outputTokens: { source: index % 17 === 0 ? 'estimated' : 'reported', count: outputTokens },
        price,
        costMicros: inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion,
      };
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

  it('shows all costs with the same number of decimals', async () => {
    const { page } = await web.open('/usage', { account: busy });
    const costs = (await page.locator('.figures strong, .number').allInnerTexts()).filter((text) => text.includes('$'));
    expect(costs.length).toBeGreaterThan(15);
    expect(new Set(costs.map((text) => /\.(\d+)$/.exec(text)?.[1]?.length))).toEqual(new Set([6]));
    await page.context().close();
  });

  it('explains its signs below each table and figure that has one', async () => {
    const { page } = await web.open('/usage', { account: busy });
    await page.getByText('By day', { exact: true }).click();
    const below = await page
      .locator('.figures, .table:has(table)')
      .evaluateAll((parts) =>
        parts
          .filter((part) => part.textContent.includes('≈'))
          .map((part) => part.nextElementSibling?.textContent ?? ''),
      );
    expect(below.length).toBeGreaterThanOrEqual(4);
    for (const text of below)
      expect(text).toMatch(/^≈ (Partly estimated|Estimated), because the provider did not report/);
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
