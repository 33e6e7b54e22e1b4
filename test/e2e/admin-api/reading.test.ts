import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { AccountStates } from '../../../src/accounts/accounts/account-states.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { OperatorClient } from '../../support/operator-client.js';
import { startService, type RunningService } from '../../support/service.js';
import { stream } from '../../support/sse-client.js';
import { waitFor } from '../../support/wait-for.js';

const NO_ACCOUNT = '00000000-0000-4000-8000-000000000000';

describe('the API for operators', () => {
  let service: RunningService;
  let client: OperatorClient;

  beforeAll(async () => {
    service = await startService({
      tiers: { free: {}, pro: {} },
      upstreams: { builtin: { protocol: 'builtin' } },
      models: [
        {
          ...{ id: 'builtin/eliza', name: 'Eliza', provider: 'Built-in', context_length: 8_000 },
          routes: [{ upstream: 'builtin', model: 'eliza' }],
        },
      ],
    });
    client = await OperatorClient.of(service.app, service.origin, 'read');
  });
  afterAll(() => service.stop());

  const account = (email: string, tier?: string) =>
    service.app.get(AccountsService, { strict: false }).create({ email, tier });

  it('finds accounts by address, part of an address, state and tier', async () => {
    const ada = await account('ada@example.com', 'pro');
    await account('grace@example.com');
    await service.app.get(AccountStates, { strict: false }).disable({ id: ada.id });
    const shown = {
      ...{ id: ada.id, email: 'ada@example.com', tier: 'pro', role: 'member', operator_by: null, state: 'disabled' },
      created_at: ada.createdAt.toISOString(),
    };
    expect((await client.get(`accounts/${ada.id}`)).body).toEqual({ ...shown, budget: null });
    for (const query of ['email=ADA@example.com', 'search=ada@', `search=${ada.id}`, 'tier=pro', 'state=disabled']) {
      expect((await client.get(`accounts?${query}`)).body).toEqual({ data: [shown], next_cursor: null });
    }
    for (const query of [
      'email=nobody@example.com',
      'email=ada@example.com&state=active',
      'email=ada@example.com&tier=free',
    ]) {
      expect((await client.get(`accounts?${query}`)).body).toEqual({ data: [], next_cursor: null });
    }
    expect((await client.get(`accounts/${NO_ACCOUNT}`)).status).toBe(404);
    expect((await client.get('accounts/ada')).status).toBe(404);
  });

  it('lists every account once in pages, also while accounts are created', async () => {
    const before: string[] = [];
    for (let index = 0; index < 25; index++) before.push((await account(`before-${index}@example.com`)).id);
    const seen: string[] = [];
    let cursor: string | null = '';
    for (let page = 0; cursor !== null; page++) {
      const next = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await client.get(`accounts?search=before-&limit=7${next}`);
      seen.push(...(body['data'] as { readonly id: string }[]).map(({ id }) => id));
      cursor = body['next_cursor'] as string | null;
      await account(`before-page-${page}@example.com`);
    }
    expect(seen.toSorted()).toEqual(before.toSorted());
  });

  it('lists the keys of an account with their limits, in pages', async () => {
    const { id } = await account('keys@example.com');
    const keys = service.app.get(ApiKeysService, { strict: false });
    const limits = { models: ['acme/*'], requestsPerMinute: 5, budgetMicros: 2_500_000, budgetPer: 'day' } as const;
    const created = [await keys.create(id, { name: 'limited', limits })];
    for (const name of ['second', 'third']) created.push(await keys.create(id, { name }));
    await keys.revoke(created[1]?.id ?? '');
    const listed = await client.all(`accounts/${id}/keys`, 2);
    expect(new Set(listed.map((key) => key['id']))).toEqual(new Set(created.map((key) => key.id)));
    const limited = listed.find(({ name }) => name === 'limited');
    expect(limited).toEqual({
      ...{ id: created[0]?.id, account_id: id, name: 'limited', prefix: created[0]?.key.slice(0, 12) },
      ...{ created_at: expect.any(String) as unknown, expires_at: null, last_used_at: null, revoked_at: null },
      ...{ models: ['acme/*'], requests_per_minute: 5, tokens_per_day: null, addresses: null },
      budget: {
        ...{ amount: 2.5, spent: 0, reserved: 0, currency: 'USD', per: 'day' },
        resets_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00.000Z$/) as unknown,
      },
    });
    expect((await client.get(`keys/${created[0]?.id ?? ''}`)).body).toEqual(limited);
    expect(listed.find(({ name }) => name === 'second')?.['revoked_at']).not.toBeNull();
    expect((await client.get(`accounts/${NO_ACCOUNT}/keys`)).status).toBe(404);
    expect((await client.get(`keys/${NO_ACCOUNT}`)).status).toBe(404);
  });

  it('lists the usage by day, account, model and key', async () => {
    const owner = await service.createKey({ email: 'usage@example.com' });
    const other = await service.createKey();
    const ask = (key: string) => stream(service.origin, { key, body: { model: 'builtin/eliza' } });
    for (const key of [owner.key, owner.key, other.key]) expect((await ask(key)).status).toBe(200);
    const { id } = await service.app.get(AccountsService, { strict: false }).get('usage@example.com');
    const ofAccount = () => client.all(`usage?account_id=${id}`);
    await waitFor(async () => ((await ofAccount())[0]?.['requests'] === 2 ? true : undefined), 'the usage');
    expect(await ofAccount()).toMatchObject([
      {
        account_id: id,
        email: 'usage@example.com',
        model: 'builtin/eliza',
        key_id: owner.id,
        key_name: 'test',
        completed: 2,
      },
    ]);
    expect(await client.all('usage', 1)).toHaveLength(2);
    expect(await client.all(`usage?key_id=${other.id}`, 1)).toMatchObject([{ key_id: other.id, requests: 1 }]);
    expect(await client.all('usage?model=other/model')).toEqual([]);
    expect(await client.all('usage?to=2020-01-01')).toEqual([]);
  });

  it('lists the audit log by account, action and day', async () => {
    const { id } = await account('audit@example.com');
    await service.app
      .get(AccountsService, { strict: false })
      .setTier({ id }, 'pro', { actor: 'command', source: 'root@host' });
    const entries = await client.all(`audit?account_id=${id}`, 1);
    expect(entries.map(({ action }) => action)).toEqual(['account.tier_changed', 'account.created']);
    expect(entries[0]).toMatchObject({
      ...{ actor: 'command', source: 'root@host', target: `account:${id} (audit@example.com)` },
      ...{ before: { tier: 'free' }, after: { tier: 'pro' } },
    });
    expect(await client.all(`audit?account_id=${id}&action=account.created`)).toEqual([entries[1]]);
    expect(await client.all(`audit?account_id=${id}&to=2020-01-01`)).toEqual([]);
  });

  it('lists the operator keys without their secrets', async () => {
    const listed = await client.all('operator-keys', 1);
    expect(listed).toContainEqual(
      expect.objectContaining({ id: client.id, scope: 'read', prefix: client.key.slice(0, 15), revoked_at: null }),
    );
    expect(JSON.stringify(listed)).not.toContain(client.key);
  });

  it.each([
    ['accounts?limit=0', 'limit'],
    ['accounts?limit=201', 'limit'],
    ['accounts?limit=1e1', 'limit'],
    ['accounts?limit=1&limit=2', 'limit'],
    ['accounts?cursor=', 'cursor'],
    ['accounts?cursor=%00', 'cursor'],
    ['accounts?cursor=WyJ4IiwieSJd', 'cursor'],
    [`accounts?cursor=${Buffer.from('["2026-01-01T00:00:00.000Z",5]').toString('base64url')}`, 'cursor'],
    [`accounts?cursor=${Buffer.from('["2026-01-01T00:00:00.000Z","\\u0000"]').toString('base64url')}`, 'cursor'],
    [`usage?cursor=${Buffer.from('["2026-01-01T00:00:00.000Z","x"]').toString('base64url')}`, 'cursor'],
    ['accounts?search=%00', 'search'],
    ['accounts?state=sleeping', 'state'],
    ['accounts?__proto__=1', '__proto__'],
    ['usage?from=2026-02-30', 'from'],
    ['audit?from=yesterday', 'from'],
    ['audit?order=asc', 'order'],
  ])('refuses %s with the name of the parameter', async (path, field) => {
    await expectRefused(path, field);
  });

  it('refuses a parameter that is too long', async () => {
    await expectRefused(`accounts?search=${'x'.repeat(2_001)}`, 'search');
  });

  async function expectRefused(path: string, field: string): Promise<void> {
    const { status, body } = await client.get(path);
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
    expect(body['error']).toMatchObject({ details: [{ field }] });
  }
});
