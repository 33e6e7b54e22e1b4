import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReportSemaphore } from '../../../src/usage/queries/usage-period.js';
import { signedIn, type AccountSession } from '../../support/account-session.js';
import { Latch } from '../../support/latch.js';
import { answering, beginning } from '../../support/scripts.js';
import { get, openStream, stream, type ReceivedStream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';

const TIERS = {
  free: { requests_per_minute: 1 },
  narrow: { concurrent_streams: 1 },
  thrifty: { tokens_per_day: 200 },
  boundless: {},
};
const REPORTS_AT_ONCE = 3;
const REPORTS_WAITING = 30;

describe('usage reports', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setStage(1, { tiers: TIERS });
    stage.provider.answers(answering('Hi'));
  });
  afterAll(() => stage.clear());

  const keyOf = async (tier: string) => (await stage.service.createKey({ tier })).key;
  const report = (key: string, query = ''): Promise<ReceivedStream> =>
    get(stage.origin, `/api/v1/usage${query}`, { authorization: `Bearer ${key}` });
  const page = ({ cookie }: AccountSession, path: string): Promise<ReceivedStream> =>
    get(stage.origin, path, { cookie: `${cookie.name}=${cookie.value}`, accept: 'text/html' });

  const receipt = (key: string): Promise<ReceivedStream> =>
    get(stage.origin, '/api/v1/usage/streams/unknown', { authorization: `Bearer ${key}` });
  /** Sends ten requests at a time, because an account may look up 20 receipts at a time. */
  async function tens(rounds: number, send: (index: number) => Promise<ReceivedStream>): Promise<ReceivedStream[]> {
    const answers = [];
    for (let round = 0; round < rounds; round++) {
      answers.push(...(await Promise.all(Array.from({ length: 10 }, (_, index) => send(index)))));
    }
    return answers;
  }
  const limitHeaders = ({ headers }: ReceivedStream) =>
    ['limit', 'remaining', 'reset'].map((name) => Number(headers[`x-ratelimit-${name}`]));

  it('are answered when the requests of the tier are used up, and use none of them', async () => {
    const key = await keyOf('free');
    expect((await report(key)).status).toBe(200);
    expect((await stream(stage.origin, { key })).status).toBe(200);
    expect((await stream(stage.origin, { key })).status).toBe(429);

    const [ofUsage, ofReceipt] = [await report(key), await receipt(key)];

    expect([ofUsage.status, ofReceipt.status]).toEqual([200, 404]);
    expect(limitHeaders(ofUsage)).toEqual([60, 58, expect.toSatisfy((reset: number) => reset > 0 && reset <= 60)]);
    expect(limitHeaders(ofReceipt).slice(0, 2)).toEqual([60, 57]);
    expect(ofUsage.headers['x-ratelimit-remaining-tokens']).toBeUndefined();
  });

  it('are 60 a minute together with receipts, for all keys of an account', async () => {
    const email = 'two-keys@example.com';
    const { key } = await stage.service.createKey({ tier: 'free', email });
    const { key: second } = await stage.service.createKey({ email });
    // A report with an invalid period counts as well.
    expect((await report(key, '?from=yesterday')).status).toBe(400);

    const answers = await tens(7, (index) => receipt(index % 2 === 0 ? key : second));

    expect(answers.filter(({ status }) => status === 404)).toHaveLength(59);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(11);
    for (const answer of refused) {
      expect(await answer.error()).toMatchObject({
        code: 'rate_limit_exceeded',
        message: 'An account can request at most 60 reports and receipts per minute.',
      });
      const [limit, remaining, reset] = limitHeaders(answer);
      expect([limit, remaining, Number(answer.headers['retry-after'])]).toEqual([60, 0, reset]);
    }
    expect((await report(key)).status).toBe(429);
    expect((await report(await keyOf('free'))).status).toBe(200);
    expect((await stream(stage.origin, { key })).status).toBe(200);
  });

  it('leave the pages of the account, which have 120 a minute of their own', async () => {
    const account = await signedIn(stage.service, 'boundless');
    const { key } = await stage.service.createKey({ email: account.email });
    await tens(6, () => receipt(key));
    expect((await report(key)).status).toBe(429);
    expect((await page(account, '/usage')).status).toBe(200);

    const pages = [];
    for (let round = 0; round < 130; round++) pages.push(await page(account, '/usage/requests/unknown'));

    expect(pages.filter(({ status }) => status === 404)).toHaveLength(119);
    const [refused] = pages.filter(({ status }) => status === 429);
    expect(refused?.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused?.raw).toContain('at most 120 pages with usage per minute');
    for (const path of ['/usage', '/usage/export.csv', '/settings/api-keys', '/']) {
      expect((await page(account, path)).status, path).toBe(429);
    }
    expect((await page(account, '/playground')).status).toBe(200);
    expect((await page(await signedIn(stage.service, 'boundless'), '/usage')).status).toBe(200);
  });

  it('may not be cached', async () => {
    const { status, headers } = await report(await keyOf('boundless'));
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
  });

  it('are answered when the streams and the tokens of the tier are used up', async () => {
    const [narrow, thrifty] = [await keyOf('narrow'), await keyOf('thrifty')];
    stage.provider.next(beginning('On and on'));
    const running = await openStream(stage.origin, { key: narrow });
    const isUsedUp = async () => {
      stage.provider.next(answering('x'.repeat(1_000)));
      const answer = await stream(stage.origin, { key: thrifty, body: { max_tokens: 1 } });
      return answer.status === 429;
    };
    await waitFor(isUsedUp, 'all tokens to be used');

    expect([(await report(narrow)).status, (await report(thrifty)).status]).toEqual([200, 200]);
    running.leave();
  });

  describe('while others are made', () => {
    const latches: Latch[] = [];

    /** A report of the account that goes on until all are let go. */
    function occupy(accountId: string): Promise<void> {
      const latch = new Latch();
      latches.push(latch);
      return stage.service.app.get(ReportSemaphore, { strict: false }).run(accountId, () => latch.opened);
    }
    const letGo = (): void => {
      for (const latch of latches.splice(0)) latch.open();
    };

    it('wait in a short line, and are refused at once behind it', async () => {
      const key = await keyOf('boundless');
      const held = Array.from({ length: REPORTS_AT_ONCE + REPORTS_WAITING - 1 }, (_, index) =>
        occupy(`account-${index}`),
      );
      const waiting = report(key);
      await get(stage.origin, '/api/v1/health');

      const refused = await report(await keyOf('boundless'));

      expect([refused.status, (await refused.error()).code]).toEqual([503, 'unavailable']);
      expect(refused.headers['retry-after']).toBe('1');
      letGo();
      await Promise.all(held);
      expect((await waiting).status).toBe(200);
    });
  });
});
