import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { SessionsService } from '../../src/accounts/sessions/sessions.service.js';
import { CREATE_TRIGGERS, insertSums } from '../../src/platform/database/migrations/usage-day-statements.js';
import type { Script } from '../../src/testing/provider/scripted-provider.js';
import { openAccountsApp } from '../contract/accounts/accounts-app.js';
import { get, openStream } from '../support/sse-client.js';
import { PASSWORD } from '../support/usual-password.js';
import { Target } from './support/target.js';

const RECORDS = 1_000_000;
const RECORDS_PER_STATEMENT = 100_000;
const SECONDS = 30 * 86_400;
const ONE_ID = 'chosen-by-the-client';
const CHUNK_EVERY_MS = 100;
/** Each chunk on an idle machine is at most a few milliseconds late. Before the lists had limits, some were 1,800 ms late. */
const MAX_LATENESS_MS = 300;
const ROUNDS = 4;
const COOKIE = '__Host-session';

/** One text every 100 ms, until the client leaves. */
const EVEN_CHUNKS: Script = async (call) => {
  call.head();
  const timer = setInterval(() => call.text('tick '), CHUNK_EVERY_MS);
  await call.over;
  clearInterval(timer);
};

describe('lists of an account with a million records', () => {
  let target: Target;
  let app: INestApplicationContext;
  let attacker: { readonly key: string; readonly cookie: string };
  let honestKey: string;

  beforeAll(async () => {
    target = await Target.start({ tiers: { free: { concurrent_streams: 5 } } });
    const path = (target.installation.env['DATABASE_URL'] ?? '').slice('sqlite:'.length);
    app = await openAccountsApp({ type: 'sqlite', path });
    const { id } = await app.get(AccountsService).create({ email: 'busy@example.com', password: PASSWORD });
    const { key } = await app.get(ApiKeysService).create(id, { name: 'test' });
    const { token } = await app.get(SessionsService).create(id);
    attacker = { key, cookie: `${COOKIE}=${token}` };
    honestKey = await target.createKey('honest@example.com');
    await addRecords(app.get(DataSource), id);
  }, 180_000);
  afterAll(async () => {
    await app.close();
    await target.stop();
  });

  const page = (path: string) => get(target.origin, path, { cookie: attacker.cookie, accept: 'text/html' });
  const api = (path: string) => get(target.origin, `/api/v1${path}`, { authorization: `Bearer ${attacker.key}` });

  /** The requests that cost the most, of each kind. */
  const worstRequests = [
    () => page('/usage/requests?model=nope'),
    () => page('/usage/requests?key=nope&model=acme%2Ffast'),
    () => page('/usage/requests?key=session'),
    () => page(`/usage/requests?before=${new Date(Date.now() - (SECONDS - 60) * 1000).toISOString()}&id=1`),
    () => page('/usage/requests?before=1&id=1'),
    () => page('/usage?days=90&model=nope'),
    () => page('/usage/export.csv?days=90'),
    () => page(`/usage/requests/${ONE_ID}`),
    () => page('/'),
    () => api(`/usage/streams/${ONE_ID}`),
    () => api('/usage?from=2026-01-01&to=2026-12-31'),
  ];

  /** Returns how late the latest chunk of an honest stream is, in milliseconds. */
  async function latenessDuring(work: () => Promise<unknown>): Promise<number> {
    const honest = await openStream(target.origin, { key: honestKey });
    await honest.block(5);
    const first = honest.blocks.length - 1;
    await work();
    await honest.block(honest.blocks.length + 2);
    honest.leave();
    const times = honest.blocks.slice(first).map(({ at }) => at);
    return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? 0))) - CHUNK_EVERY_MS;
  }

  it('delay no chunk of other accounts, whatever the filter', async () => {
    target.provider.answers(EVEN_CHUNKS);
    const statuses: number[] = [];
    const attack = async () => {
      for (const request of worstRequests) {
        const answer = await request();
        await answer.body();
        statuses.push(answer.status);
      }
    };
    // A busy machine delays some of the rounds. The service without limits would delay all of them.
    const latenesses: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      latenesses.push(await latenessDuring(() => Promise.all([attack(), attack()])));
    }
    expect(Math.min(...latenesses)).toBeLessThan(MAX_LATENESS_MS);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(worstRequests.length);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
  }, 180_000);

  it('have a next page where a filter has passed no record of the latest hundred thousand', async () => {
    const html = await (await page('/usage/requests?model=nope')).body();
    expect(html).toContain('None of the latest requests match.');
    expect(html).toContain('rel="next"');
  });
});

/** Adds the records without the triggers, and the daily sums in one statement, because that takes a third of the time. */
async function addRecords(source: DataSource, accountId: string): Promise<void> {
  for (const name of ['usage_days_of_changed', 'usage_days_of_new']) await source.query(`DROP TRIGGER ${name}`);
  for (let start = 0; start < RECORDS; start += RECORDS_PER_STATEMENT) {
    await source.query(
      `INSERT INTO usage_records (id, request_id, account_id, credential, key_id, key_prefix, model, attempts, started_at,
          outcome, prompt_tokens, prompt_tokens_source, completion_tokens, completion_tokens_source)
        WITH RECURSIVE numbers(i) AS
          (SELECT ${start} UNION ALL SELECT i + 1 FROM numbers WHERE i < ${start + RECORDS_PER_STATEMENT - 1})
        SELECT printf('%012d', i), '${ONE_ID}', '${accountId}', 'api_key', 'key ' || (i % 100), 'csk_', 'acme/fast', 1,
          strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (${SECONDS} - i * ${SECONDS}.0 / ${RECORDS}) || ' seconds'),
          'completed', 1, 'reported', 2, 'reported'
        FROM numbers`,
    );
  }
  await source.query(insertSums('usage_records', '1'));
  for (const statement of CREATE_TRIGGERS.sqlite) await source.query(statement);
}
