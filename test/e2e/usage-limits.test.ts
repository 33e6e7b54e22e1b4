import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ShedLoad } from '../../src/common/shed-load.js';
import { ReportGate } from '../../src/usage/reports/report-gate.js';
import { signedIn, type AccountSession } from '../support/account-session.js';
import { Gate } from '../support/gate.js';
import { get, openStream, stream, type ReceivedStream } from '../support/sse-client.js';
import { setStage, type Stage } from '../support/stage.js';
import { waitFor } from '../support/wait-for.js';

const TIERS = {
  free: { requests_per_minute: 3 },
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
    stage.provider.answers((call) => {
      call.answer('Hi');
    });
  });
  afterAll(() => stage.clear());

  const keyOf = async (tier: string) => (await stage.service.createKey({ tier })).key;
  const report = (key: string, query = ''): Promise<ReceivedStream> =>
    get(stage.origin, `/api/v1/usage${query}`, { authorization: `Bearer ${key}` });
  const page = ({ cookie }: AccountSession, path: string): Promise<ReceivedStream> =>
    get(stage.origin, path, { cookie: `${cookie.name}=${cookie.value}`, accept: 'text/html' });

  it('count as requests of the tier, together with streams', async () => {
    const key = await keyOf('free');
    const first = await report(key);
    expect([first.status, first.headers['x-ratelimit-limit'], first.headers['x-ratelimit-remaining']]).toEqual([
      200,
      '3',
      '2',
    ]);
    expect((await stream(stage.origin, { key })).headers['x-ratelimit-remaining']).toBe('1');
    // A wrong one is a request, too.
    const wrong = await report(key, '?from=yesterday');
    expect([wrong.status, wrong.headers['x-ratelimit-remaining']]).toEqual([400, '0']);

    const refused = await report(key);

    expect(refused.status).toBe(429);
    expect((await refused.error()).code).toBe('rate_limit_exceeded');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.headers['x-ratelimit-remaining']).toBe('0');
    expect((await stream(stage.origin, { key })).status).toBe(429);
  });

  it('may not be cached', async () => {
    const { status, headers } = await report(await keyOf('boundless'));
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
  });

  it('hold a place of the streams that the tier allows while they are made', async () => {
    const key = await keyOf('narrow');
    expect((await report(key)).status).toBe(200);
    expect((await report(key)).status).toBe(200);
    stage.provider.next((call) => void call.head().text('On and on'));
    const running = await openStream(stage.origin, { key });

    const refused = await report(key);

    expect([refused.status, (await refused.error()).code]).toEqual([429, 'concurrency_limit_exceeded']);
    running.leave();
  });

  it('can be had when the tokens of the day are spent', async () => {
    const key = await keyOf('thrifty');
    const isSpent = async () => {
      stage.provider.next((call) => {
        call.answer('x'.repeat(1_000));
      });
      const answer = await stream(stage.origin, { key, body: { max_tokens: 1 } });
      return answer.status === 429;
    };
    await waitFor(isSpent, 'all tokens to be used');

    const { status, headers } = await report(key);

    expect([status, headers['x-ratelimit-remaining-tokens']]).toEqual([200, '0']);
  });

  describe('while others are made', () => {
    const gates: Gate[] = [];

    /** A report of the account that goes on until all are let go. */
    function occupy(accountId: string): Promise<void> {
      const gate = new Gate();
      gates.push(gate);
      return stage.service.app.get(ReportGate, { strict: false }).run(accountId, () => gate.opened);
    }
    const letGo = (): void => {
      for (const gate of gates.splice(0)) gate.open();
    };
    const shed = (): number =>
      Object.fromEntries(stage.service.app.get(ShedLoad, { strict: false }).counts)['usage_reports'] ?? 0;

    it('are two of an account, also by its pages; others have theirs', async () => {
      const [busy, other] = [await signedIn(stage.service, 'boundless'), await signedIn(stage.service, 'boundless')];
      const { key } = await stage.service.createKey({ email: busy.email });
      const held = [occupy(busy.accountId), occupy(busy.accountId)];
      const before = shed();

      const refused = await report(key);
      const pages = await Promise.all([page(busy, '/usage'), page(busy, '/settings/api-keys')]);

      expect([refused.status, (await refused.error()).code]).toEqual([429, 'concurrency_limit_exceeded']);
      expect(refused.headers['retry-after']).toBe('1');
      for (const { status, headers } of pages) {
        expect([status, headers['retry-after'], headers['content-type']]).toEqual([
          429,
          '1',
          'text/html; charset=utf-8',
        ]);
      }
      expect(shed() - before).toBe(3);
      expect((await page(other, '/usage')).status).toBe(200);
      expect((await stream(stage.origin, { key })).status).toBe(200);
      letGo();
      await Promise.all(held);
      for (const path of ['/usage', '/settings/api-keys']) expect((await page(busy, path)).status).toBe(200);
      expect((await report(key)).status).toBe(200);
    });

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
