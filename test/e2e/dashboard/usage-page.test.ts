import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { InProcessLimitStore } from '../../../src/throttling/in-process/in-process-limit-store.js';
import type { LimitStates } from '../../../src/throttling/limit-store.js';
import type { UsageRecord } from '../../../src/usage/record/usage-record.js';
import { UsageReports } from '../../../src/usage/queries/usage-reports.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { signedIn, type AccountSession } from '../../support/account-session.js';
import { MODEL } from '../../support/catalog.js';
import { beginning } from '../../support/scripts.js';
import { get, openStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';

const DAY_MS = 86_400_000;

class LimitsThatMayBeAway extends InProcessLimitStore {
  areAway = false;

  override async peek(...args: Parameters<InProcessLimitStore['peek']>): Promise<LimitStates> {
    if (this.areAway) throw new Error('Whoever counts is away.');
    return super.peek(...args);
  }
}

describe('the usage page', () => {
  const limitStore = new LimitsThatMayBeAway();
  let stage: Stage;

  beforeAll(async () => {
    stage = await setStage(1, {
      limitStore,
      tiers: {
        free: { requests_per_minute: 20, concurrent_streams: 2, tokens_per_day: 1_000_000 },
        boundless: {},
        narrow: { requests_per_minute: 1 },
      },
    });
  });
  afterAll(() => stage.clear());

  const service = <T>(type: abstract new (...args: never[]) => T): T => stage.service.app.get(type, { strict: false });

  /** The words of the page, as somebody reads them who sees no tags. */
  const page = (account: AccountSession, days?: number | string): Promise<string> =>
    text(account, days === undefined ? '/usage' : `/usage?days=${days}`);

  const open = ({ cookie }: AccountSession, path: string) =>
    get(stage.origin, path, { cookie: `${cookie.name}=${cookie.value}`, accept: 'text/html' });

  async function text(account: AccountSession, path: string): Promise<string> {
    const html = await (await open(account, path)).body();
    return html
      .replaceAll(/<svg.*?<\/svg>/gs, '')
      .replaceAll(/<\/(tr|caption|p|li|h2|summary)>/g, '\n')
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll('&amp;', '&')
      .replaceAll('&gt;', '>')
      .replaceAll(/[^\S\n]+/g, ' ');
  }

  const over = (account: AccountSession, parts: Partial<UsageRecord> = {}): UsageRecord => ({
    id: randomUUID(),
    requestId: 'request',
    accountId: account.accountId,
    credential: 'session',
    keyId: undefined,
    keyPrefix: undefined,
    model: MODEL,
    startedAt: Date.now(),
    upstream: 'acme',
    attempts: [],
    firstTextAt: Date.now(),
    endedAt: Date.now(),
    outcome: 'completed',
    errorCode: undefined,
    finishReason: 'stop',
    inputTokens: { source: 'reported', count: 1200 },
    outputTokens: { source: 'reported', count: 3400 },
    price: undefined,
    costMicros: undefined,
    ...parts,
  });
  const record = (...records: UsageRecord[]) => service(UsageStore).append(records);

  it('says how to begin to an account without usage', async () => {
    const text = await page(await signedIn(stage.service));
    expect(text).toContain('No usage in this period');
    expect(text).toMatch(/Requests per minute 20 0 20 /);
  });

  it('sums up by model, by key and by day, with whatever the figures are worth', async () => {
    const ada = await signedIn(stage.service);
    const keys = service(ApiKeysService);
    const laptop = await keys.create(ada.accountId, { name: 'laptop' });
    await keys.revoke(laptop.id);
    const prefix = laptop.key.slice(0, 12);
    const byKey = { credential: 'api_key', keyId: laptop.id, keyPrefix: prefix } as const;
    await record(
      over(ada),
      over(ada, { outcome: 'upstream_failed', outputTokens: { source: 'unknown' } }),
      over(ada, { ...byKey, inputTokens: { source: 'estimated', count: 10 }, model: 'acme/gone' }),
      over(ada, { startedAt: Date.now() - 8 * DAY_MS, outcome: 'client_gone' }),
      over(ada, { startedAt: Date.now() - 40 * DAY_MS }),
    );
    const text = await page(ada);
    expect(text).toMatch(/By model\n.*\n acme\/fast 3 1 ≥ 3,600 ≥ 6,800 \n acme\/gone 1 0 ≈ 10 ≈ 3,400 /);
    expect(text).toContain(`Playground (session) 3 1 ≥ 3,600 ≥ 6,800`);
    expect(text).toContain(`laptop ${prefix}… revoked 1 0 ≈ 10 ≈ 3,400`);
    expect(text).toContain(' Total 4 1 ≥ 3,610 ≥ 10,200');
    const [today, before] = [0, 8].map((days) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10));
    expect(text.indexOf(` ${today ?? ''} 3 1 `)).toBeGreaterThan(0);
    expect(text.indexOf(` ${before ?? ''} 1 0 1,200 3,400`)).toBeGreaterThan(text.indexOf(` ${today ?? ''} 3 1 `));
    expect(text).not.toContain('Cost');

    expect(await page(ada, 7)).toContain(' Total 3 1 ');
    expect(await page(ada, 90)).toContain(' Total 5 1 ');
  });

  it('shows costs where there are prices, by currency, and what they leave out', async () => {
    const ada = await signedIn(stage.service);
    const price = { inputPerMillion: 1, outputPerMillion: 2, currency: 'USD' };
    await record(
      over(ada, { price, costMicros: 1_234_500_000 }),
      over(ada, { price: { ...price, currency: 'EUR' }, costMicros: 2_500 }),
    );
    expect(await page(ada)).toContain(' Total 2 0 2,400 6,800 €0.0025 + $1,234.50');
    await record(over(ada));
    const text = await page(ada);
    expect(text).toContain('≥ €0.0025 + $1,234.50');
    expect(text).toContain('At least: cost does not include requests');
  });

  it('stays short for an account with more keys, days and models than a report may have rows', async () => {
    const ada = await signedIn(stage.service);
    await service(DataSource).query(
      `INSERT INTO usage_days (account_id, day, model, key_id, credential, currency, key_prefix, requests, completed, errors,
          tokens_unknown, tokens_estimated, without_cost, prompt_tokens, completion_tokens, cost_micros)
        WITH RECURSIVE numbers(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < 59999)
        SELECT '${ada.accountId}', date('now', '-' || (i % 60) || ' days'), 'acme/fast', 'key ' || (i / 60), 'api_key', 'USD',
          'csk_' || (i / 60), 1, 1, 0, 0, 0, 0, 2, 3, 1000000 FROM numbers`,
    );
    const text = await page(ada, 90);
    expect(text).toContain(' Total 60,000 0 120,000 180,000 $60,000.00');
    expect(text).toContain('900 others 54,000 0 108,000 162,000 $54,000.00');
    expect(text.length).toBeLessThan(50_000);
    expect(await page(ada, 30)).toContain(' Total 30,000 0 ');
  });

  it('offers models of the period that the configuration no longer has', async () => {
    const ada = await signedIn(stage.service);
    await record(over(ada), over(ada, { model: 'acme/removed' }));
    expect(await page(ada)).toContain('All models acme/fast acme/removed ');
    expect(await text(ada, '/usage/requests')).toContain('All models acme/fast acme/removed ');
    const one = await text(ada, '/usage?model=acme%2Fremoved');
    expect(one).toContain(' Total 1 0 ');
    expect(one).toContain('All models acme/fast acme/removed ');
  });

  it('shows refused requests with the reason', async () => {
    const ada = await signedIn(stage.service, 'narrow');
    const keys = service(ApiKeysService);
    const { key } = await keys.create(ada.accountId, { name: 'laptop' });
    const old = await keys.create(ada.accountId, { name: 'old laptop' });
    await keys.revoke(old.id);
    await stream(stage.origin, { key });
    expect((await stream(stage.origin, { key })).status).toBe(429);
    expect((await stream(stage.origin, { key: old.key })).status).toBe(401);
    for (const path of ['/usage', '/usage/requests?outcome=refused']) {
      const shown = await waitFor(async () => {
        const now = await text(ada, path);
        return now.includes('old laptop csk_') && now.includes('Limit: ') ? now : undefined;
      }, 'the refused requests');
      expect(shown).toMatch(/Refused 429 Limit: requests per minute – laptop csk_\w+… – – /);
      expect(shown).toMatch(/Refused 401 The API key is revoked\. – old laptop csk_\w+… revoked – – /);
    }
    const html = await (await open(ada, '/usage/requests?outcome=refused')).body();
    const path = /href="(\/usage\/refused\/[^"]+)"/.exec(html)?.[1] ?? '';
    expect(await text(ada, path)).toMatch(/Request ID [\w-]{36} .*The API key is revoked\./s);
    const other = await signedIn(stage.service);
    expect(await text(other, '/usage/requests?outcome=refused')).toContain('No request matches.');
    expect((await open(other, path)).status).toBe(404);
  });

  it('shows real streams of a key and of a session', async () => {
    const ada = await signedIn(stage.service);
    const { key } = await service(ApiKeysService).create(ada.accountId, { name: 'laptop' });
    await stream(stage.origin, { key });
    await stream(stage.origin, {
      headers: { cookie: `${ada.cookie.name}=${ada.cookie.value}`, origin: stage.origin },
    });
    const text = await waitFor(async () => {
      const now = await page(ada);
      return now.includes(' Total 2 0 ') ? now : undefined;
    }, 'both streams on the page');
    expect(text).toMatch(/laptop csk_\w+… 1 0 ≈ \d+ ≈ \d+/);
    expect(text).toMatch(/Playground \(session\) 1 0 ≈ \d+ ≈ \d+/);
    expect(text).toMatch(/Requests per minute 20 2 18 in (\d+ seconds|1 minute)/);
    expect(text).toMatch(/Tokens per day 1,000,000 \d+ 999,9\d\d at midnight UTC, in /);
  });

  it('shows what is open now, and uses up nothing by being looked at', async () => {
    const ada = await signedIn(stage.service);
    const { key } = await service(ApiKeysService).create(ada.accountId, { name: 'laptop' });
    stage.provider.next(beginning('On and on'));
    const running = await openStream(stage.origin, { key });
    for (let looks = 0; looks < 3; looks++) {
      expect(await page(ada)).toMatch(/Requests per minute 20 1 19 .*\n Concurrent streams 2 1 1 /);
    }
    running.leave();
    await waitFor(async () => (await page(ada)).includes('Concurrent streams 2 0 2 '), 'the slot to be released');
  });

  it('shows a tier without limits as one', async () => {
    const text = await page(await signedIn(stage.service, 'boundless'));
    expect(text).toMatch(/Requests per minute No limit – – –/);
  });

  it('holds nothing of another account', async () => {
    const [ada, bob] = [await signedIn(stage.service), await signedIn(stage.service)];
    await service(ApiKeysService).create(bob.accountId, { name: 'key of bob' });
    await record(over(bob, { model: 'acme/secret', keyPrefix: 'csk_bobsbobs', keyId: 'bob', credential: 'api_key' }));
    const text = await page(ada);
    expect(text).toContain('No usage in this period');
    expect(text).not.toMatch(/secret|bob/);
    expect(await page(bob)).toContain('acme/secret');
  });

  it('shows the other parts while one part is unavailable', async () => {
    const ada = await signedIn(stage.service);
    await record(over(ada));
    limitStore.areAway = true;
    const withoutLimits = await page(ada);
    limitStore.areAway = false;
    expect(withoutLimits).toContain('The remaining quota is unavailable right now.');
    expect(withoutLimits).toMatch(/Requests per minute 20 unknown unknown /);
    expect(withoutLimits).toContain(' Total 1 0 1,200 3,400');

    const reports = service(UsageReports);
    reports.pages = () => {
      throw new Error('The ledger is away.');
    };
    const withoutFigures = await page(ada);
    Reflect.deleteProperty(reports, 'pages');
    expect(withoutFigures).toContain('Usage is unavailable right now.');
    expect(withoutFigures).toMatch(/Requests per minute 20 0 20 /);
  });

  it('refuses days outside the choices', async () => {
    const { cookie } = await signedIn(stage.service);
    const headers = { cookie: `${cookie.name}=${cookie.value}` };
    for (const days of ['8', '-1', '1e3', 'x', '30&days=7', '']) {
      const { status } = await get(stage.origin, `/usage?days=${days}`, headers);
      expect(status).toBe(400);
    }
  });

  it('is for who is signed in', async () => {
    const visitor = await get(stage.origin, '/usage', { accept: 'text/html' });
    expect([visitor.status, visitor.headers.location]).toEqual([303, '/sign-in?next=%2Fusage']);
    const { status } = await get(stage.origin, '/usage', { authorization: `Bearer ${stage.key}` });
    expect(status).toBe(403);
  });
});
