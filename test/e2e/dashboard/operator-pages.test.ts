import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { answering, beginning } from '../../support/scripts.js';
import { testUsageRecord } from '../../support/usage-records.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { operatorSignedIn, signedIn, type AccountSession } from '../../support/account-session.js';
import { browserOf } from '../../support/as-browser.js';
import { testEngines, urlOf, type TestDatabase } from '../../support/database.js';
import { startService } from '../../support/service.js';
import { openStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';
import type { WebClient } from '../../support/web-client.js';
import { wireOf } from '../../support/wire.js';

const LIST = '/operator/accounts';
const DAY_MS = 86_400_000;
const price = { inputPerMillion: 1, outputPerMillion: 2, currency: 'USD' };
const tiers = {
  free: { requests_per_minute: 20, max_tokens: 4096 },
  pro: { requests_per_minute: 600, concurrent_streams: 50 },
  metered: { budget: { amount: 5, per: 'month' } },
};

describe.each(await testEngines())('the pages of operators on $name', (engine) => {
  let database: TestDatabase;
  let stage: Stage;
  let operator: AccountSession;
  let client: WebClient;

  beforeAll(async () => {
    database = await engine.create();
    stage = await setStage(1, {
      env: { DATABASE_URL: urlOf(database) },
      tiers,
      price: { input_per_million: 1, output_per_million: 2 },
    });
    operator = await operatorSignedIn(stage.service);
    client = browserOf(stage.origin, operator);
  });
  afterAll(async () => {
    await stage.clear();
    await database.drop();
  });

  const keys = () => stage.service.app.get(ApiKeysService, { strict: false });
  const accounts = () => stage.service.app.get(AccountsService, { strict: false });
  const pathOf = ({ accountId }: AccountSession) => `${LIST}/${accountId}`;
  const open = async (path: string) => {
    const answer = await client.get(path);
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.body();
  };
  const change = async (path: string, fields: Readonly<Record<string, string>> = {}) =>
    client.post(path, { account_id: operator.accountId, ...fields });
  const emailsIn = (html: string) =>
    [...html.matchAll(/<th scope="row" role="rowheader" id="account-[^>]*><a [^>]*>([^<]*)<\/a>/g)].map(
      ([, email]) => email,
    );
  const rowOf = (html: string, { email }: AccountSession) =>
    html.split('<tr role="row"').find((row) => row.includes('id="account-') && row.includes(`>${email}</a>`)) ?? '';
  const spend = async ({ accountId }: { readonly accountId: string }, costMicros: number, daysAgo = 0) =>
    stage.service.app
      .get(UsageStore, { strict: false })
      .append([
        testUsageRecord({ accountId, startedAt: Date.now() - daysAgo * DAY_MS, price, costMicros, model: 'acme/fast' }),
      ]);

  describe('the list', () => {
    it('shows tier, state, role, and the spend of 30 days and of today', async () => {
      const ada = await signedIn(stage.service, 'pro');
      await spend(ada, 1_500_000);
      await spend(ada, 2_000_000, 29);
      await spend(ada, 900_000_000, 30);
      const html = await open(`${LIST}?search=${ada.email}`);
      const row = rowOf(html, ada).replaceAll(/<[^>]*>/g, '|');
      expect(row).toMatch(/pro\|.*Active\|.*Member\|.*UTC|Active/);
      expect(row).toContain('$1.50|');
      expect(row).toContain('$3.50|');
      expect(rowOf(await open(`${LIST}?search=${operator.email}`), operator)).toMatch(/\(you\).*>Operator</);
    });

    it('shows the budgets of tiers, and what accounts have used and have left', async () => {
      const [ada, bob] = [await signedIn(stage.service, 'metered'), await signedIn(stage.service, 'pro')];
      await spend(ada, 3_200_000);
      const html = await open(LIST);
      expect(rowOf(html, ada)).toContain('$3.20 of $5.00 per month, $1.80 left');
      expect(rowOf(html, bob)).not.toContain('left');
      expect(html).toMatch(/>metered .*?data-label="Budget">\$5\.00 per month</s);
      expect(html).toMatch(/>pro .*?data-label="Budget">No budget</s);
      expect(await open(pathOf(ada))).toContain('$1.80');
    });

    it('adds up the spend of all accounts, and shows the highest, also of deleted accounts', async () => {
      const gone = { accountId: randomUUID() };
      await spend(gone, 5_000_000_000);
      // The sums are read at most once a minute, so this service has read none before.
      const fresh = await startService({ env: { DATABASE_URL: urlOf(database) } });
      try {
        const html = await (await browserOf(fresh.origin, operator).get(LIST)).body();
        const [section = ''] = /<section aria-labelledby="spend">.*?<\/section>/s.exec(html) ?? [];
        expect(section).toMatch(/Today<\/dt><dd><strong>(?:≈ )?\$5,00\d\.\d\d/);
        expect(section).toMatch(/Highest spend.*?<code>[0-9a-f-]{36}<\/code> <small>deleted/s);
        expect(section).toContain(gone.accountId);
      } finally {
        await fresh.stop();
      }
    });

    it('shows the tiers of the configuration with their limits and accounts', async () => {
      const html = await open(LIST);
      const [section = ''] = /<section aria-labelledby="tiers">.*<\/section>/s.exec(html) ?? [];
      expect(section).toMatch(/free <small>default<\/small>.*>20<.*>No limit<.*>4,096</s);
      expect(section).toMatch(/pro .*>600<.*>50<.*>No limit<.*href="\/operator\/accounts\?tier=pro"/s);
    });

    it.each([
      ['a part of the address', (email: string) => email.slice(0, -12).toUpperCase()],
      ['the id', (_: string, id: string) => id],
    ])('finds an account by %s', async (_, search) => {
      const person = await signedIn(stage.service);
      const query = new URLSearchParams({ search: search(person.email, person.accountId) }).toString();
      expect(emailsIn(await open(`${LIST}?${query}`))).toEqual([person.email]);
    });

    it.each(['%', '_', '\\', "'", '\u0000', '<script>', 'nobody@example.com', 'x'.repeat(1000)])(
      'finds nothing for %j, and shows it as text',
      async (search) => {
        const html = await open(`${LIST}?${new URLSearchParams({ search: `no${search}` }).toString()}`);
        expect(emailsIn(html)).toEqual([]);
        expect(html).toContain('No account matches.');
        expect(html).not.toContain('<script>');
      },
    );

    it.each(['acc%t-', 'acc_unt-', String.raw`a\ccount-`])('reads %j as text, and not as a pattern', async (search) => {
      await signedIn(stage.service);
      expect(emailsIn(await open(`${LIST}?search=account-`))).not.toEqual([]);
      expect(emailsIn(await open(`${LIST}?${new URLSearchParams({ search }).toString()}`))).toEqual([]);
    });

    it('filters by state and by tier', async () => {
      const person = await signedIn(stage.service, 'pro');
      await change(`${pathOf(person)}/disable`);
      expect(emailsIn(await open(`${LIST}?state=disabled`))).toEqual([person.email]);
      expect(emailsIn(await open(`${LIST}?state=active`))).not.toContain(person.email);
      expect(emailsIn(await open(`${LIST}?tier=pro&search=${person.email}`))).toEqual([person.email]);
      expect(emailsIn(await open(`${LIST}?tier=free&search=${person.email}`))).toEqual([]);
      // PostgreSQL accepts no NUL character in a text.
      expect(emailsIn(await open(`${LIST}?tier=pr%00o&search=${person.email}`))).toEqual([person.email]);
      await change(`${pathOf(person)}/enable`);
    });
  });

  describe('an account', () => {
    let person: AccountSession;
    let keyId: string;
    let key: string;

    beforeEach(async () => {
      person = await signedIn(stage.service);
      ({ id: keyId, key } = await keys().create(person.accountId, { name: 'laptop' }));
      stage.provider.answers(answering('Hi'));
    });

    const statusWithKey = async () =>
      (await openStream(stage.origin, { headers: { authorization: `Bearer ${key}` } })).status;
    const isSignedIn = async () => (await browserOf(stage.origin, person).get('/usage')).status === 200;

    it('shows its keys with the last use and the spend, and its usage with filters', async () => {
      const html = await open(pathOf(person));
      expect(html).toContain(`${key.slice(0, 12)}…`);
      expect(html).not.toContain(key.slice(0, 13));
      expect(html).toMatch(/Last used.*Never/s);
      expect(html).toContain('No usage in this period.');
      await spend(person, 1_250_000, 40);
      expect(await open(`${pathOf(person)}?days=90`)).toContain('$1.25');
      expect(await open(`${pathOf(person)}?days=90&model=acme/other`)).toContain('No usage in this period.');
    });

    it('is disabled after a confirmation: sessions, keys and open streams end; and is enabled again', async () => {
      stage.provider.answers(beginning('Hi'));
      const running = await openStream(stage.origin, { headers: { authorization: `Bearer ${key}` } });
      const page = await open(`${pathOf(person)}/disable`);
      expect(page).toContain(`Disable ${person.email}?`);
      expect(await isSignedIn()).toBe(true);

      const answer = await change(`${pathOf(person)}/disable`);
      expect([answer.status, answer.headers.location]).toEqual([303, `${pathOf(person)}?done=disabled`]);
      expect(await wireOf(running)).toMatchObject({ text: 'Hi', terminal: 'key_revoked' });
      expect([await isSignedIn(), await statusWithKey()]).toEqual([false, 401]);
      const disabled = await open(answer.headers.location ?? '');
      expect(disabled).toContain('The account was disabled.');
      expect(disabled).toMatch(/Disabled<\/span> since/);

      stage.provider.answers(answering('Hi'));
      const enabled = await change(`${pathOf(person)}/enable`);
      expect([enabled.status, enabled.headers.location]).toEqual([303, `${pathOf(person)}?done=enabled`]);
      await waitFor(async () => (await statusWithKey()) === 200, 'the key to be accepted');
      expect(await isSignedIn()).toBe(false);
    });

    it('gets another tier, and keeps its tier for an unknown one', async () => {
      const answer = await change(`${pathOf(person)}/tier`, { tier: 'pro' });
      expect([answer.status, answer.headers.location]).toEqual([303, `${pathOf(person)}?done=tier`]);
      expect(await open(`${pathOf(person)}?done=tier`)).toMatch(/The tier was changed.*<dt>Tier<\/dt><dd>pro</s);
      for (const fields of [{ tier: 'gold' }, {}]) {
        const refused = await change(`${pathOf(person)}/tier`, fields);
        expect(refused.status).toBe(400);
        expect(await refused.body()).toContain('The tiers are: free, pro, metered.');
      }
      expect((await accounts().findById(person.accountId))?.tier).toBe('pro');
    });

    it('gets a key from an operator, shown once, and the operator edits it; the audit log has both', async () => {
      const person = await signedIn(stage.service);
      expect(await open(pathOf(person))).toContain(`href="${pathOf(person)}/keys/new"`);
      expect(await open(`${pathOf(person)}/keys/new`)).toContain(`New key for ${person.email}`);
      const refused = await change(`${pathOf(person)}/keys/new`, { name: 'ci', budget: 'much' });
      expect(refused.status).toBe(400);
      const fields = { name: 'ci', budget: '5', budget_per: 'month', models: 'acme/*', expires_in_days: '30' };
      const made = await change(`${pathOf(person)}/keys/new`, fields);
      expect(made.status).toBe(201);
      const html = await made.body();
      const key = /csk_\w+/.exec(html)?.[0] ?? '';
      expect(html).toContain('shown only once');
      expect((await stream(stage.origin, { key })).status).toBe(200);
      const [listed] = await keys().list(person.accountId);
      expect(listed).toMatchObject({ name: 'ci', models: ['acme/*'], budgetMicros: 5_000_000, budgetPer: 'month' });
      expect(await open(pathOf(person))).not.toContain(key);

      const path = `${pathOf(person)}/keys/${listed?.id ?? ''}/edit`;
      expect(await open(path)).toContain('value="acme/*"');
      const edited = await change(path, { name: 'CI', budget: '7.50', budget_per: 'day' });
      expect(edited.headers.location).toBe(`${pathOf(person)}?done=changed`);
      expect(await open(edited.headers.location ?? '')).toContain('The key was changed.');
      expect(await keys().list(person.accountId)).toMatchObject([
        { name: 'CI', models: null, budgetMicros: 7_500_000 },
      ]);
      const log = await open(`/operator/audit?account=${person.email}`);
      expect(log).toContain('budget: $5.00 per month → $7.50 per day');
      expect(log).toContain(operator.email);

      const other = await signedIn(stage.service);
      expect((await client.get(path.replace(person.accountId, other.accountId))).status).toBe(404);
      const member = browserOf(stage.origin, other);
      expect((await member.get(`${pathOf(person)}/keys/new`)).status).toBe(404);
    });

    it('loses a key after a confirmation', async () => {
      const path = `${pathOf(person)}/keys/${keyId}/revoke`;
      expect(await open(path)).toContain(`Programs of ${person.email} that use this key lose access at once`);
      expect(await statusWithKey()).toBe(200);
      const answer = await change(path);
      expect([answer.status, answer.headers.location]).toEqual([303, `${pathOf(person)}?done=revoked`]);
      expect(await statusWithKey()).toBe(401);
      expect(await open(answer.headers.location ?? '')).toMatch(/The key was revoked.*Revoked/s);
      expect((await client.get(path)).headers.location).toBe(`${pathOf(person)}?done=revoked`);
    });

    it('does not lose a key of another account by a wrong address', async () => {
      const other = await signedIn(stage.service);
      const path = `${pathOf(other)}/keys/${keyId}/revoke`;
      expect((await client.get(path)).status).toBe(404);
      expect((await change(path)).status).toBe(404);
      expect(await statusWithKey()).toBe(200);
    });

    it.each(['nobody', '%00', randomUUID(), '..%2f..'])('is not there for %s', async (id) => {
      for (const path of ['', '/disable', `/keys/${keyId}/revoke`]) {
        expect([path, (await client.get(`${LIST}/${id}${path}`)).status]).toEqual([path, 404]);
      }
      for (const path of ['/tier', '/disable', '/enable', `/keys/${keyId}/revoke`]) {
        expect([path, (await change(`${LIST}/${id}${path}`, { tier: 'pro' })).status]).toEqual([path, 404]);
      }
    });

    it('with an unknown report of a change shows none, and ignores odd page numbers', async () => {
      for (const query of ['done=x', 'done=__proto__', 'page=-1', 'page=99', 'page=x', 'before=x&id=y']) {
        expect(await open(`${pathOf(person)}?${query}`)).not.toContain('role="status"');
      }
    });
  });

  it('every change is logged with the ids of the operator and of the account, without their addresses', async () => {
    const person = await signedIn(stage.service);
    const { id: keyId } = await keys().create(person.accountId, { name: 'laptop' });
    const log = vi.spyOn(Logger.prototype, 'log');
    const ids = { operatorId: operator.accountId, accountId: person.accountId };
    await change(`${pathOf(person)}/tier`, { tier: 'pro' });
    await change(`${pathOf(person)}/tier`, { tier: 'gold' });
    await change(`${pathOf(person)}/keys/${keyId}/revoke`);
    await change(`${pathOf(person)}/disable`);
    await change(`${pathOf(person)}/enable`);
    const entries = log.mock.calls.map(([entry]: unknown[]) => entry);
    log.mockRestore();
    expect(entries.filter((entry) => typeof entry === 'object' && entry !== null && 'operatorId' in entry)).toEqual([
      { msg: 'The tier of an account was changed', ...ids, tier: 'pro' },
      { msg: 'An API key was revoked', ...ids, keyId },
      { msg: 'An account was disabled', ...ids },
      { msg: 'An account was enabled', ...ids },
    ]);
    expect(JSON.stringify(entries)).not.toContain('@example.com');
  });

  it('an operator cannot disable itself', async () => {
    for (const answer of [
      await client.get(`${pathOf(operator)}/disable`),
      await change(`${pathOf(operator)}/disable`),
    ]) {
      expect(answer.status).toBe(403);
      expect(await answer.body()).toContain('Another operator can disable it.');
    }
    expect(await open(pathOf(operator))).not.toContain('Disable account');
    expect(rowOf(await open(`${LIST}?search=${operator.email}`), operator)).not.toContain('Disable');
  });

  it('an account with a tier that the configuration no longer has says so', async () => {
    const person = await signedIn(stage.service);
    await stage.service.app
      .get(DataSource, { strict: false })
      .query(`UPDATE accounts SET tier = 'gold' WHERE id = '${person.accountId}'`);
    expect(await open(pathOf(person))).toContain('gold (not configured, uses free)');
    expect(await open(LIST)).toMatch(/gold <small>not configured: the default tier applies/);
  });

  it('10,000 accounts are listed in pages, newest first', async () => {
    const source = stage.service.app.get(DataSource, { strict: false });
    const rows = Array.from({ length: 10_000 }, (_, index) => {
      const createdAt = new Date(Date.UTC(2025, 0, 1) + index * 60_000).toISOString();
      return `('${randomUUID()}', 'bulk-${index}@example.org', 'x', 'free', '${createdAt}')`;
    });
    for (let start = 0; start < rows.length; start += 500) {
      await source.query(
        `INSERT INTO accounts (id, email, password_hash, tier, created_at) VALUES ${rows.slice(start, start + 500).join()}`,
      );
    }
    const bulk = Array.from({ length: 10_000 }, (_, index) => `bulk-${9_999 - index}@example.org`);
    const first = await open(`${LIST}?search=bulk-`);
    expect(emailsIn(first)).toEqual(bulk.slice(0, 50));
    expect(first).not.toContain('← Latest');
    const second = await open(olderIn(first));
    expect(emailsIn(second)).toEqual(bulk.slice(50, 100));
    expect(second).toContain('← Latest');
    const last = await open(`${LIST}?search=bulk-&before=2025-01-01T00:49:00.001Z&id=`);
    expect(emailsIn(last)).toEqual(bulk.slice(-50));
    expect(last).not.toContain('Older →');
    // A rare account is found on the first page, after several steps.
    expect(emailsIn(await open(`${LIST}?search=bulk-0@`))).toEqual(['bulk-0@example.org']);
    expect(await open(LIST)).toMatch(/10,0\d\d accounts, newest first/);
    await source.query(`DELETE FROM accounts WHERE email LIKE 'bulk-%'`);
  });
});

function olderIn(html: string): string {
  return /<a rel="next" href="([^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
}
