import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccountStates } from '../../../src/accounts/accounts/account-states.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { RefusalRecorder } from '../../../src/plugins/dashboard/requests/refusal-recorder.js';
import { RefusedRequests } from '../../../src/plugins/dashboard/requests/refused-requests.js';
import { testUsageRecord } from '../../support/usage-records.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { operatorSignedIn, signedIn, type AccountSession } from '../../support/account-session.js';
import { browserOf } from '../../support/as-browser.js';
import { MODEL } from '../../support/catalog.js';
import { testEngines, urlOf, type TestDatabase } from '../../support/database.js';
import { stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';
import type { WebClient } from '../../support/web-client.js';

const LIST = '/operator/requests';
const tiers = { free: { requests_per_minute: 3 }, pro: {} };

describe.each(await testEngines())('the requests of all accounts on $name', (engine) => {
  let database: TestDatabase;
  let stage: Stage;
  let operator: AccountSession;
  let client: WebClient;

  beforeAll(async () => {
    database = await engine.create();
    const url = urlOf(database);
    stage = await setStage(1, { env: { DATABASE_URL: url }, tiers });
  });
  afterAll(async () => {
    await stage.clear();
    await database.drop();
  });
  beforeEach(async () => {
    // The pages of each account are limited.
    operator = await operatorSignedIn(stage.service);
    client = browserOf(stage.origin, operator);
    await stage.service.app.get(RefusalRecorder, { strict: false }).flush();
    await stage.service.app.get(DataSource).query('DELETE FROM refused_requests');
    await stage.service.app.get(DataSource).query('DELETE FROM usage_records');
  });

  const keys = () => stage.service.app.get(ApiKeysService, { strict: false });
  const open = async (path: string) => {
    const answer = await client.get(path);
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.body();
  };
  const rowsIn = (html: string) =>
    [...html.matchAll(/<tr role="row"[^>]*>(.*?)<\/tr>/g)].slice(1).map(([, row = '']) => ({
      path: /href="(\/operator\/requests\/[^"]*)"/.exec(row)?.[1] ?? '',
      text: row.replaceAll(/<[^>]*>/g, '|').replaceAll(/\|+/g, '|'),
    }));
  const list = async (query = '') => rowsIn(await open(LIST + query));
  const record = async (members: Parameters<typeof testUsageRecord>[0]) => {
    const made = testUsageRecord({ startedAt: Date.now(), ...members });
    await stage.service.app.get(UsageStore, { strict: false }).append([made]);
    return made;
  };
  /** Waits until so many refused requests are kept. */
  const kept = async (count: number) => {
    const { app } = stage.service;
    await waitFor(async () => {
      await app.get(RefusalRecorder, { strict: false }).write();
      const [rows] = await app
        .get(DataSource)
        .query<[{ count: number | string }]>('SELECT COUNT(*) AS count FROM refused_requests');
      return Number(rows.count) >= count;
    }, `${count} refused requests`);
  };
  const listed = async (query: string, count = 1) => {
    await kept(count);
    return list(query);
  };
  const personWithKey = async (tier?: string) => {
    const person = await signedIn(stage.service, tier);
    return { ...person, ...(await keys().create(person.accountId, { name: 'laptop' })) };
  };

  it('are found by request id, account, key, model and outcome, latest first', async () => {
    const ada = await personWithKey();
    const bob = await signedIn(stage.service);
    const adas = { accountId: ada.accountId, keyId: ada.id, keyPrefix: ada.key.slice(0, 12) };
    const now = Date.now();
    await record({ ...adas, requestId: 'of-ada', model: 'acme/other', startedAt: now - 3000 });
    await record({ ...adas, requestId: 'timed-out', model: MODEL, outcome: 'timed_out', startedAt: now - 2000 });
    const session = { credential: 'session', keyId: undefined, keyPrefix: undefined } as const;
    await record({ accountId: bob.accountId, ...session, requestId: 'of-bob', model: MODEL, startedAt: now - 1000 });
    const idsOf = async (query: string) => {
      const found = await list(query);
      const ids: (string | undefined)[] = [];
      for (const { path } of found) ids.push(/Request ID<\/dt><dd><code>([^<]*)/.exec(await open(path))?.[1]);
      return ids;
    };
    expect(await idsOf('')).toEqual(['of-bob', 'timed-out', 'of-ada']);
    expect(await idsOf('?request=of-bob')).toEqual(['of-bob']);
    expect(await idsOf(`?account=${ada.email.toUpperCase()}`)).toEqual(['timed-out', 'of-ada']);
    expect(await idsOf(`?account=${bob.accountId}`)).toEqual(['of-bob']);
    expect(await idsOf(`?key=${ada.id}`)).toEqual(['timed-out', 'of-ada']);
    expect(await idsOf(`?key=${ada.key.slice(0, 12)}`)).toEqual(['timed-out', 'of-ada']);
    expect(await idsOf('?key=session')).toEqual(['of-bob']);
    expect(await idsOf(`?model=${MODEL}`)).toEqual(['of-bob', 'timed-out']);
    expect(await idsOf('?outcome=timed_out')).toEqual(['timed-out']);
    expect(await idsOf('?outcome=unsuccessful')).toEqual(['timed-out']);
    expect(await idsOf(`?request=of-ada&account=${bob.accountId}`)).toEqual([]);
    expect(await open(`${LIST}?account=nobody@example.com`)).toContain('No account has this email.');
  });

  it('are found by the time, the upstream and the error code, and are in a file with the same filter', async () => {
    const at = (time: string) => Date.parse(`2026-11-26T${time}Z`);
    const failed = { outcome: 'upstream_failed', errorCode: 'upstream_error', upstream: 'backup' } as const;
    await record({ requestId: 'before', startedAt: at('14:02:59.900') });
    await record({ ...failed, requestId: 'failed', startedAt: at('14:03:20.000') });
    await record({ requestId: 'after', startedAt: at('14:04:00.000') });
    const day = '2026-11-26';
    const idsOf = async (query: string) => {
      const file = await open(`${LIST}/export.csv?${query}`);
      const ids = file
        .trim()
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(',')[1]);
      expect(await list(`?${query}`)).toHaveLength(ids.length);
      return ids;
    };
    expect(await idsOf(`from=${day}+14:03&to=${day}+14:03`)).toEqual(['failed']);
    expect(await idsOf(`from=${day}+14:03:21&to=${day}`)).toEqual(['after']);
    expect(await idsOf(`to=${day}T14:02`)).toEqual(['before']);
    expect(await idsOf('error=upstream_error')).toEqual(['failed']);
    expect(await idsOf('upstream=backup')).toEqual(['failed']);
    expect(await idsOf('upstream=backup&outcome=refused')).toEqual([]);
    expect(await open(`${LIST}?from=noon`)).toContain('“noon” is not a time.');
  });

  it('have a receipt that names the account, and never the content', async () => {
    const ada = await personWithKey();
    const answer = await stream(stage.origin, { key: ada.key, headers: { 'x-request-id': 'with-receipt' } });
    expect(answer.status).toBe(200);
    await waitFor(async () => (await list('?request=with-receipt')).length === 1, 'the record');
    const [found] = await list('?request=with-receipt');
    const html = await open(found?.path ?? '');
    // The address can break between its parts.
    expect(html.replaceAll('<wbr/>', '')).toContain(`<a href="/operator/accounts/${ada.accountId}">${ada.email}</a>`);
    expect(html).toContain('<h1>Receipt</h1>');
    expect(html).not.toContain('Hello!');
  });

  it('include requests that a limit of the tier refused, as a sample with the reason', async () => {
    const ada = await personWithKey();
    for (let count = 0; count < 13; count++) {
      await stream(stage.origin, { key: ada.key, headers: { 'x-request-id': `request-${count}` } });
    }
    const refused = await listed(`?account=${ada.email}&outcome=refused`, 5);
    expect(refused).toHaveLength(5);
    expect(refused[0]?.text).toContain('429 |requests_per_minute|');
    // The last refused request of the minute stands for the others.
    await stage.service.app.get(RefusalRecorder, { strict: false }).flush();
    const [last] = await listed('?request=request-12');
    expect(last?.text).toContain('and 4 more');
    const html = await open(last?.path ?? '');
    expect(html).toContain('The tier allows 3 requests per minute');
    expect(html).toContain('<code>POST /api/v1/chat/stream</code>');
    // The address can break between its parts.
    expect(html.replaceAll('<wbr/>', '')).toContain(`<a href="/operator/accounts/${ada.accountId}">${ada.email}</a>`);
  });

  it('include requests with a known key that is refused, with the reason that the caller does not learn', async () => {
    const revoked = await personWithKey();
    await keys().revoke(revoked.id);
    const disabled = await personWithKey();
    await stage.service.app.get(AccountStates, { strict: false }).disable({ id: disabled.accountId });
    const restricted = await signedIn(stage.service);
    const { key } = await keys().create(restricted.accountId, {
      name: 'office',
      limits: { addresses: ['192.0.2.0/24'] },
    });
    const statuses = [];
    for (const each of [revoked.key, disabled.key, key]) {
      statuses.push((await stream(stage.origin, { key: each })).status);
    }
    expect(statuses).toEqual([401, 401, 403]);
    expect((await listed(`?key=${revoked.id}`, 3))[0]?.text).toContain('401 |key_revoked|');
    expect((await listed(`?account=${disabled.accountId}`))[0]?.text).toContain('401 |account_disabled|');
    const [other] = await listed(`?account=${restricted.accountId}`);
    expect(await open(other?.path ?? '')).toContain('may not be used from the address of the caller');
  });

  it('include requests without a valid body, without the text of the caller, and none of unknown callers', async () => {
    const ada = await personWithKey('pro');
    const secret = 'a text of the caller';
    const answer = await stream(stage.origin, { key: ada.key, body: { [secret]: true, model: MODEL } });
    expect(answer.status).toBe(400);
    await stream(stage.origin, { key: `${ada.key.slice(0, -1)}${ada.key.endsWith('x') ? 'y' : 'x'}` });
    const [found, ...others] = await listed('?outcome=refused');
    expect(others).toEqual([]);
    expect(found?.text).toContain('400 |invalid_request|');
    const html = await open(found?.path ?? '');
    expect(html).not.toContain(secret);
    expect(html).toContain(`<code>${MODEL}</code>`);
  });

  it('come in pages, streams and refused requests together', async () => {
    const accountId = randomUUID();
    const now = Date.now() - 600_000;
    const streams = Array.from({ length: 60 }, (_, index) =>
      testUsageRecord({ accountId, requestId: `stream-${index}`, startedAt: now + index * 2000 }),
    );
    await stage.service.app.get(UsageStore, { strict: false }).append(streams);
    await stage.service.app.get(RefusedRequests, { strict: false }).append(
      Array.from({ length: 60 }, (_, index) => ({
        id: randomUUID(),
        requestId: `refused-${index}`,
        refusedAt: now + index * 2000 + 1000,
        accountId,
        credential: 'session',
        keyId: null,
        keyPrefix: null,
        method: 'POST',
        route: null,
        model: null,
        status: 503,
        errorCode: 'unavailable',
        reason: null,
        message: null,
        similar: 0,
      })),
    );
    const seen: string[] = [];
    let path: string | undefined = `${LIST}?account=${accountId}`;
    const sizes: number[] = [];
    while (path !== undefined) {
      const html: string = await open(path);
      const rows = rowsIn(html);
      sizes.push(rows.length);
      seen.push(...rows.map((row) => row.path));
      path = /rel="next" href="([^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(sizes).toEqual([50, 50, 20]);
    expect(new Set(seen).size).toBe(120);
    expect(seen.slice(0, 4).map((each) => each.split('/')[3])).toEqual(['refused', 'streams', 'refused', 'streams']);
  });

  it('are linked from the pages of errors and from the receipt, for operators only', async () => {
    const own = await record({ accountId: operator.accountId, requestId: 'own' });
    expect(await open('/usage/requests/own')).toContain(`href="${LIST}?request=${own.requestId}"`);
    const member = await signedIn(stage.service);
    await record({ accountId: member.accountId, requestId: 'of-member' });
    const memberClient = browserOf(stage.origin, member);
    expect(await (await memberClient.get('/usage/requests/of-member')).body()).not.toContain(LIST);

    const failed = await client.get('/usage?days=11');
    expect(failed.status).toBe(400);
    const path = /href="(\/operator\/requests\?request=[^"]*)"/.exec(await failed.body())?.[1] ?? '';
    await kept(1);
    expect(rowsIn(await open(path))[0]?.text).toContain('400 |invalid_request|');
    expect(await (await memberClient.get('/usage?days=11')).body()).not.toContain(LIST);
    expect(await (await client.get('/nowhere')).body()).not.toContain(`${LIST}?request`);
  });

  it('are not there for members', async () => {
    const memberClient = browserOf(stage.origin, await signedIn(stage.service));
    const { id } = await record({ accountId: operator.accountId });
    for (const path of [LIST, `${LIST}/streams/${id}`, `${LIST}/refused/${id}`]) {
      expect((await memberClient.get(path)).status).toBe(404);
    }
    expect((await client.get(`${LIST}/streams/unknown`)).status).toBe(404);
    expect((await client.get(`${LIST}/refused/unknown`)).status).toBe(404);
  });

  it('are deleted when they are refused more than seven days ago', async () => {
    const refused = stage.service.app.get(RefusedRequests, { strict: false });
    const ada = await personWithKey('pro');
    await stream(stage.origin, { key: ada.key, body: { model: 5 } });
    await listed('');
    const now = Date.now();
    expect(await refused.deleteSome(now + 6 * 86_400_000)).toBe(false);
    expect(await list()).toHaveLength(1);
    await refused.deleteSome(now + 8 * 86_400_000);
    expect(await list()).toEqual([]);
  });
});
