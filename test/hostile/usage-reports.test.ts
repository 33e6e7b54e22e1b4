import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { openAccountsApp } from '../contract/accounts/accounts-app.js';
import { get } from '../support/sse-client.js';
import { Target } from './support/target.js';
import { PASSWORD } from '../support/usual-password.js';

/** Far above what it takes on an idle machine, and what a busy one makes of it. */
const MAX_LATENCY_MS = 2_500;
const RECORDS = 150_000;
const DAYS = 365;
const DAY_MS = 86_400_000;
const dayBefore = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

describe('reports on a year with many records', () => {
  let target: Target;
  let app: INestApplicationContext;
  let key: string;
  let accountId: string;

  beforeAll(async () => {
    target = await Target.start();
    app = await openAccountsApp({
      type: 'sqlite',
      path: (target.installation.env['DATABASE_URL'] ?? '').slice('sqlite:'.length),
    });
    ({ id: accountId } = await app.get(AccountsService).create({ email: 'busy@example.com', password: PASSWORD }));
    ({ key } = await app.get(ApiKeysService).create(accountId, { name: 'test' }));
    await app.get(DataSource).query(
      `INSERT INTO usage_records (id, request_id, account_id, credential, key_id, key_prefix, model, attempts, started_at,
          outcome, prompt_tokens, prompt_tokens_source, completion_tokens, completion_tokens_source)
        WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${RECORDS})
        SELECT 'record ' || i, 'r', '${accountId}', 'api_key', 'key ' || (i % 10), 'csk_', 'acme/fast', 1,
          strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (i % ${DAYS}) || ' days'), 'completed', 1, 'reported', 2, 'reported'
        FROM numbers`,
    );
  });
  afterAll(async () => {
    await app.close();
    await target.stop();
  });

  const report = (query: string) => get(target.origin, `/api/v1/usage?${query}`, { authorization: `Bearer ${key}` });

  it('answers two at once, again and again, and everybody else meanwhile', async () => {
    const started = performance.now();
    const health = await target.healthDuring(async () => {
      const pair = () => Promise.all([report(`from=${dayBefore(DAYS)}`), report(`from=${dayBefore(DAYS)}`)]);
      const answers = [await pair(), await pair(), await pair(), await pair()].flat();
      for (const { status, headers, raw } of answers) {
        expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
        expect(Number(headers['content-length'])).toBe(Buffer.byteLength(raw));
        const { usage } = JSON.parse(raw) as { usage: { requests: number; completion_tokens: number }[] };
        expect(usage.reduce((sum, { requests }) => sum + requests, 0)).toBe(RECORDS);
        expect(usage.reduce((sum, { completion_tokens: tokens }) => sum + tokens, 0)).toBe(2 * RECORDS);
      }
    });
    expect(health.failed).toBe(0);
    expect(health.longestMs).toBeLessThan(MAX_LATENCY_MS);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('refuses what would be too long an answer, with what to do', async () => {
    await app.get(DataSource).query(
      `INSERT INTO usage_days (account_id, day, model, key_id, credential, currency, key_prefix, requests, completed, errors,
          tokens_unknown, tokens_estimated, without_cost, prompt_tokens, completion_tokens, cost_micros)
        WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 60000)
        SELECT '${accountId}', date('now', '-' || (i % ${DAYS}) || ' days'), 'acme/fast', 'another ' || i, 'api_key', '',
          'csk_', 1, 1, 0, 0, 0, 1, 1, 2, 0 FROM numbers`,
    );
    const health = await target.healthDuring(async () => {
      const answer = await report(`from=${dayBefore(DAYS)}`);
      expect(answer.status).toBe(400);
      expect(await answer.error()).toMatchObject({ code: 'invalid_request', details: [{ field: 'from' }] });
    });
    expect(health.longestMs).toBeLessThan(MAX_LATENCY_MS);
    expect((await report(`from=${dayBefore(30)}`)).status).toBe(200);
    expect((await report('from=2020-01-01')).status).toBe(400);
  });
});
