import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditLog } from '../../../src/accounts/audit/audit-log.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeyVerifier } from '../../../src/accounts/api-keys/api-key-verifier.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { OperatorClient } from '../../support/operator-client.js';
import { startService, type RunningService } from '../../support/service.js';
import { PASSWORD } from '../../support/usual-password.js';

const UUID = /[0-9a-f-]{36}/g;
const NO_ID = '00000000-0000-4000-8000-000000000000';

describe('the API for operators, with a key that may write', () => {
  let service: RunningService;
  let client: OperatorClient;

  beforeAll(async () => {
    service = await startService({
      tiers: { free: {}, pro: {} },
      env: {
        ...{ OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'chat', OIDC_CLIENT_SECRET: 'secret' },
        PUBLIC_URL: 'https://chat.example.com',
      },
    });
    client = await OperatorClient.of(service.app, service.origin, 'write');
  });
  afterAll(() => service.stop());

  let accounts = 0;
  const newAccount = async (): Promise<string> => {
    const { status, body } = await client.send('POST', 'accounts', { email: `a${accounts++}@example.com` });
    expect(status).toBe(201);
    return String(body['id']);
  };
  const newKey = async (accountId: string, more: object = {}) => {
    const { status, body } = await client.send('POST', `accounts/${accountId}/keys`, { name: 'ci', ...more });
    expect({ status, body }).toMatchObject({ status: 201 });
    return body as { readonly id: string; readonly key: string };
  };
  /** The changes that have written entries in the audit log, by method and path. */
  const audited = new Set<string>();
  /** Sends the request, and returns its answer and the actions that it has added to the audit log. */
  const change = async (method: string, path: string, body?: unknown) => {
    const log = service.app.get(AuditLog, { strict: false });
    const before = (await log.page({}, undefined, 1)).entries[0]?.id;
    const answer = await client.send(method, path, body);
    const { entries } = await log.page({}, undefined, 20);
    const added = entries.slice(
      0,
      entries.findIndex(({ id }) => id === before),
    );
    for (const { actor, source } of added) {
      expect({ actor, source }).toEqual({ actor: `operator-key:${client.id} (tests, write)`, source: '127.0.0.1' });
    }
    if (added.length > 0) audited.add(`${method} ${path.replaceAll(UUID, 'ID')}`);
    return { ...answer, actions: added.map(({ action }) => action).reverse() };
  };

  it('creates, changes and deletes accounts, with an entry in the audit log for each change', async () => {
    const created = await change('POST', 'accounts', { email: ' Ada@Example.com ', password: PASSWORD, tier: 'pro' });
    expect(created).toMatchObject({
      ...{ status: 201, actions: ['account.created'] },
      body: { email: 'ada@example.com', tier: 'pro', role: 'member', state: 'active' },
    });
    const path = `accounts/${String(created.body['id'])}`;
    const steps: [object, object, string[]][] = [
      [{ tier: 'free' }, { tier: 'free' }, ['account.tier_changed']],
      [{ role: 'operator' }, { role: 'operator' }, ['account.role_changed']],
      [{ disabled: true }, { state: 'disabled' }, ['account.disabled']],
      [{ disabled: false, tier: 'pro' }, { state: 'active', tier: 'pro' }, ['account.tier_changed', 'account.enabled']],
      [{}, { state: 'active', tier: 'pro', role: 'operator' }, []],
    ];
    for (const [body, shown, actions] of steps) {
      expect(await change('PATCH', path, body)).toMatchObject({ status: 200, body: shown, actions });
    }
    expect(await change('PATCH', path, { tier: 'gold', disabled: true })).toMatchObject({ status: 400, actions: [] });
    expect((await client.get(path)).body).toMatchObject({ state: 'active', tier: 'pro' });
    expect(await change('DELETE', path)).toMatchObject({ status: 204, actions: ['account.deleted'] });
    expect((await client.get(path)).status).toBe(404);
    expect((await client.send('DELETE', path)).status).toBe(404);
  });

  it('sets passwords, creates links for new ones, prepares for single sign-on and ends sessions', async () => {
    const path = `accounts/${await newAccount()}`;
    const id = path.slice('accounts/'.length);
    const sessions = service.app.get(SessionsService, { strict: false });
    const { key } = await newKey(id);
    await sessions.create(id);
    const password = await change('PUT', `${path}/password`, { password: PASSWORD, revoke_keys: true });
    expect(password).toMatchObject({ status: 200, body: { revoked_keys: 1 } });
    expect(password.actions.toSorted()).toEqual(['account.password_changed', 'key.revoked', 'session.ended']);
    expect(await service.app.get(ApiKeyVerifier, { strict: false }).verify(key)).toBeUndefined();

    const { status, body, actions } = await change('POST', `${path}/password-reset`);
    expect({ status, actions }).toEqual({ status: 201, actions: ['password_reset.created'] });
    const link = new URL(String(body['link']));
    expect(link.origin).toBe('https://chat.example.com');
    expect(link.pathname).toMatch(/^\/reset-password\/[\w-]{43}$/);
    expect((await fetch(service.origin + link.pathname)).status).toBe(200);
    expect(await change('DELETE', `${path}/password-reset`)).toMatchObject({
      ...{ status: 204, actions: ['password_reset.ended'] },
    });
    expect((await fetch(service.origin + link.pathname)).status).not.toBe(200);

    const [first, second] = [await sessions.create(id), await sessions.create(id)];
    expect(await change('DELETE', `${path}/sessions`)).toMatchObject({
      ...{ status: 200, body: { ended: 2 }, actions: ['session.ended', 'session.ended'] },
    });
    for (const { token } of [first, second]) expect(await sessions.verify(token)).toBeUndefined();

    const prepared = await change('POST', `${path}/single-sign-on`, {});
    expect(prepared).toMatchObject({ status: 200, body: { revoked_keys: 0 }, actions: ['account.password_changed'] });
    const accountsService = service.app.get(AccountsService, { strict: false });
    const { email } = await accountsService.get({ id });
    expect(await accountsService.verifyPassword(email, PASSWORD)).toBeUndefined();
  });

  it('creates keys with all limits, changes, rotates and revokes them', async () => {
    const accountId = await newAccount();
    const limits = {
      ...{ models: ['acme/*', 'other/one'], requests_per_minute: 10, tokens_per_day: 1_000 },
      ...{ addresses: ['10.0.0.0/8', '::1'], budget: { amount: 5.25, per: 'day' } },
      expires_at: '2100-01-31T00:00:00.000Z',
    };
    const created = await change('POST', `accounts/${accountId}/keys`, { name: 'ci', ...limits });
    expect(created).toMatchObject({ status: 201, body: { name: 'ci', ...limits }, actions: ['key.created'] });
    const { id, key } = created.body as { readonly id: string; readonly key: string };
    expect({ ...(await client.get(`keys/${id}`)).body, key }).toEqual(created.body);
    expect(await service.app.get(ApiKeyVerifier, { strict: false }).verify(key)).toMatchObject({ keyId: id });

    const updated = await change('PATCH', `keys/${id}`, { name: 'deploy', models: null, budget: { amount: 7 } });
    expect(updated).toMatchObject({
      ...{ status: 200, actions: ['key.updated'] },
      body: { name: 'deploy', models: null, budget: { amount: 7, per: 'month' }, requests_per_minute: 10 },
    });
    const removed = await change('PATCH', `keys/${id}`, { budget: null, expires_at: null, addresses: null });
    expect(removed.body).toMatchObject({ budget: null, expires_at: null, addresses: null });

    const rotated = await change('POST', `keys/${id}/rotate`, { overlap_seconds: 3_600 });
    expect(rotated).toMatchObject({
      ...{ status: 201, body: { name: 'deploy', account_id: accountId, requests_per_minute: 10 } },
      actions: ['key.created', 'key.updated'],
    });
    expect((await client.get(`keys/${id}`)).body['expires_at']).not.toBeNull();

    const revoked = await change('POST', `keys/${id}/revoke`);
    expect(revoked).toMatchObject({ status: 200, body: { id }, actions: ['key.revoked'] });
    expect(revoked.body['revoked_at']).not.toBeNull();
    expect(await change('POST', `keys/${id}/revoke`)).toMatchObject({ body: revoked.body, actions: [] });
    expect((await client.send('PATCH', `keys/${id}`, { name: 'x' })).status).toBe(400);
    await client.send('PATCH', `accounts/${accountId}`, { disabled: true });
    expect((await client.send('POST', `accounts/${accountId}/keys`, { name: 'ci' })).status).toBe(400);
  });

  it('invites people, and revokes invitations and operator keys', async () => {
    const invitation = await change('POST', 'invitations', {
      email: 'in@example.com',
      role: 'operator',
      valid_days: 2,
    });
    expect(invitation).toMatchObject({
      ...{ status: 201, actions: ['invitation.created'] },
      body: { email: 'in@example.com', tier: 'free', role: 'operator' },
    });
    const { link, ...shown } = invitation.body;
    expect((await fetch(service.origin + new URL(String(link)).pathname)).status).toBe(200);
    expect((await client.get('invitations')).body).toEqual({ data: [shown] });
    const path = `invitations/${String(invitation.body['id'])}`;
    expect(await change('DELETE', path)).toMatchObject({ status: 204, actions: ['invitation.ended'] });
    expect((await client.send('DELETE', path)).status).toBe(404);

    const other = await OperatorClient.of(service.app, service.origin, 'read');
    const revoked = await change('POST', `operator-keys/${other.id}/revoke`);
    expect(revoked).toMatchObject({ status: 200, body: { id: other.id }, actions: ['operator_key.revoked'] });
    expect((await other.get('accounts')).status).toBe(401);
  });

  describe('with an Idempotency-Key', () => {
    const post = (path: string, key: string, body: object, by = client) =>
      by.send('POST', path, body, { 'idempotency-key': key });

    it('creates an account and a key once, however often the request is sent', async () => {
      const body = { email: 'once@example.com', password: PASSWORD };
      const answers = await Promise.all(Array.from({ length: 5 }, () => post('accounts', 'account-1', body)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      expect(new Set(answers.map((answer) => answer.body['id'])).size).toBe(1);
      expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') !== 'true')).toHaveLength(1);

      const path = `accounts/${String(answers[0]?.body['id'])}/keys`;
      const keys = await Promise.all(Array.from({ length: 5 }, () => post(path, 'key-1', { name: 'ci' })));
      expect(new Set(keys.map((answer) => answer.body['id'])).size).toBe(1);
      expect(keys.filter((answer) => answer.body['key'] !== null)).toHaveLength(1);
      expect(await client.all(path)).toHaveLength(1);

      const rotation = `keys/${String(keys[0]?.body['id'])}/rotate`;
      const first = await post(rotation, 'rotation-1', {});
      const second = await post(rotation, 'rotation-1', {});
      expect(second.body).toEqual({ ...first.body, key: null });
      expect(second.headers.get('idempotency-replayed')).toBe('true');
    });

    it('belongs to the operator key, however the header spells it', async () => {
      const spellings = ['Bearer ', 'bearer ', 'BEARER ', 'Bearer  ', 'bearer   '].map((scheme) => scheme + client.key);
      const answers = [];
      for (const authorization of [...spellings, `Bearer ${client.key} `]) {
        const body = { email: 'spelled@example.com' };
        answers.push(await client.send('POST', 'accounts', body, { 'idempotency-key': 'spelled', authorization }));
      }
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
      expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1);
      const path = `accounts/${String(answers[0]?.body['id'])}/keys`;
      for (const authorization of spellings) {
        await client.send('POST', path, { name: 'ci' }, { 'idempotency-key': 'spelled-key', authorization });
      }
      expect(await client.all(path)).toHaveLength(1);
    });

    it('knows a body again whose members are in another order', async () => {
      const first = await post('accounts', 'order', { email: 'order@example.com', tier: 'pro' });
      const second = await post('accounts', 'order', { tier: 'pro', email: 'order@example.com' });
      expect(second).toMatchObject({ status: 201, body: { id: first.body['id'] } });
    });

    it('refuses the key for another body or another operation', async () => {
      expect((await post('accounts', 'conflict', { email: 'one@example.com' })).status).toBe(201);
      const other = await post('accounts', 'conflict', { email: 'two@example.com' });
      expect(other).toMatchObject({ status: 409, body: { error: { code: 'idempotency_conflict' } } });
      const operation = await post(`accounts/${await newAccount()}/keys`, 'conflict', { name: 'ci' });
      expect(operation.status).toBe(409);
      const another = await OperatorClient.of(service.app, service.origin, 'write');
      expect((await post('accounts', 'conflict', { email: 'three@example.com' }, another)).status).toBe(201);
    });

    it('takes the key again after a request that has created nothing', async () => {
      expect((await post('accounts', 'retry', { email: 'no address' })).status).toBe(400);
      expect((await post('accounts', 'retry', { email: 'retry@example.com' })).status).toBe(201);
    });

    it.each([' ', 'x'.repeat(256), 'two words'])('refuses the key "%s"', async (key) => {
      const { status, body } = await post('accounts', key, { email: 'never@example.com' });
      expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
    });
  });

  it.each<[method: string, path: string, body: unknown, field: string | undefined]>([
    ['POST', 'accounts', { email: 'x'.repeat(1_001) }, 'email'],
    ['POST', 'accounts', { email: 'a\u0000@example.com' }, 'email'],
    ['POST', 'accounts', { email: 'a0@example.com' }, 'email'],
    ['POST', 'accounts', { email: 'p@example.com', password: 'short' }, 'password'],
    ['POST', 'accounts', { email: 'p@example.com', tier: 'gold' }, 'tier'],
    ['POST', 'accounts', { email: 5 }, 'email'],
    ['POST', 'accounts', { email: 'p@example.com', role: 'operator' }, 'role'],
    ['POST', 'accounts', { email: 'p@example.com', constructor: 1 }, 'constructor'],
    ['POST', 'accounts', '[]', undefined],
    ['POST', 'accounts', '{', undefined],
    ['PATCH', 'accounts/ID', { role: 'root' }, 'role'],
    ['PATCH', 'accounts/ID', { disabled: 'yes' }, 'disabled'],
    ['PATCH', 'accounts/ID', { tier: null }, 'tier'],
    ['PUT', 'accounts/ID/password', {}, 'password'],
    ['POST', 'accounts/ID/keys', { name: '' }, 'name'],
    ['POST', 'accounts/ID/keys', { name: 'x'.repeat(101) }, 'name'],
    ['POST', 'accounts/ID/keys', { name: 'a\nb' }, 'name'],
    ['POST', 'accounts/ID/keys', { name: 'ci', expires_at: 'tomorrow' }, 'expires_at'],
    ['POST', 'accounts/ID/keys', { name: 'ci', expires_at: '2099-99-99T00:00:00Z' }, 'expires_at'],
    ['POST', 'accounts/ID/keys', { name: 'ci', expires_at: '2099-02-30T00:00:00Z' }, 'expires_at'],
    ['POST', 'accounts/ID/keys', { name: 'ci', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    ['POST', 'accounts/ID/keys', { name: 'ci', models: 'acme/*' }, 'models'],
    ['POST', 'accounts/ID/keys', { name: 'ci', models: [] }, 'models'],
    ['POST', 'accounts/ID/keys', { name: 'ci', models: [5] }, 'models'],
    ['POST', 'accounts/ID/keys', { name: 'ci', models: ['x'.repeat(601)] }, 'models'],
    ['POST', 'accounts/ID/keys', { name: 'ci', models: Array(101).fill('a/b') }, 'models'],
    ['POST', 'accounts/ID/keys', { name: 'ci', addresses: ['everywhere'] }, 'addresses'],
    ['POST', 'accounts/ID/keys', { name: 'ci', requests_per_minute: 0 }, 'requests_per_minute'],
    ['POST', 'accounts/ID/keys', { name: 'ci', tokens_per_day: 1e300 }, 'tokens_per_day'],
    ['POST', 'accounts/ID/keys', { name: 'ci', budget: 5 }, 'budget'],
    ['POST', 'accounts/ID/keys', { name: 'ci', budget: { amount: -1 } }, 'budget'],
    ['POST', 'accounts/ID/keys', { name: 'ci', budget: { amount: 1, per: 'year' } }, 'budget.per'],
    ['POST', 'invitations', { email: 'in@example.com', valid_days: 31 }, 'valid_days'],
    ['POST', 'invitations', { email: 'a0@example.com' }, 'email'],
  ])('refuses %s %s %j with the name of the member', async (method, path, body, field) => {
    if (accounts === 0) await newAccount();
    const { body: found } = await client.get('accounts?email=a0@example.com');
    const [{ id } = { id: '' }] = found['data'] as { readonly id: string }[];
    const answer = await change(method, path.replace('ID', id), body);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } }, actions: [] });
    if (field !== undefined) expect(answer.body['error']).toMatchObject({ details: [{ field }] });
  });

  it('says what is wrong with a value of another type', async () => {
    const { body } = await client.send('POST', 'accounts', { email: 5 });
    expect(body['error']).toMatchObject({ details: [{ message: 'must be a string' }] });
  });

  it('takes a request without a body, also if its client names a type', async () => {
    const created = await client.send('POST', `accounts/${await newAccount()}/keys`, { name: 'ci' });
    const path = `keys/${String(created.body['id'])}/revoke`;
    const headers = { 'content-type': 'application/json' };
    expect((await client.send('POST', path, undefined, headers)).status).toBe(200);
  });

  it('refuses bodies that are too long, compressed or no JSON, and ids that do not exist', async () => {
    const long = JSON.stringify({ email: 'x'.repeat(4 * 1024 * 1024) });
    expect(await client.send('POST', 'accounts', long)).toMatchObject({
      ...{ status: 413, body: { error: { code: 'payload_too_large' } } },
    });
    const form = await client.send('POST', 'accounts', 'email=a', {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(form).toMatchObject({ status: 415, body: { error: { code: 'unsupported_media_type' } } });
    const missing: [string, string, unknown?][] = [
      ['PATCH', `accounts/${NO_ID}`, { tier: 'pro' }],
      ['PUT', `accounts/${NO_ID}/password`, { password: PASSWORD }],
      ['POST', `accounts/${NO_ID}/password-reset`],
      ['DELETE', `accounts/${NO_ID}/password-reset`],
      ['POST', `accounts/${NO_ID}/single-sign-on`, {}],
      ['DELETE', `accounts/${NO_ID}/sessions`],
      ['POST', `accounts/${NO_ID}/keys`, { name: 'ci' }],
      ['PATCH', `keys/${NO_ID}`, { name: 'ci' }],
      ['POST', `keys/${NO_ID}/rotate`, {}],
      ['POST', `keys/${NO_ID}/revoke`],
      ['POST', 'keys/%00/revoke'],
      ['DELETE', `invitations/${NO_ID}`],
      ['DELETE', 'invitations/%00'],
      ['POST', `operator-keys/${NO_ID}/revoke`],
    ];
    for (const [method, path, body] of missing) {
      const answer = await change(method, path, body);
      expect({ path, ...answer }).toMatchObject({
        path,
        status: 404,
        body: { error: { code: 'not_found' } },
        actions: [],
      });
    }
  });

  it('has been seen to write its entries for each request that changes something', async () => {
    const response = await fetch(`${service.origin}/api/openapi.json`);
    const { paths } = (await response.json()) as { readonly paths: Readonly<Record<string, object>> };
    const changing = Object.entries(paths)
      .filter(([path]) => path.startsWith('/api/v1/admin/'))
      .flatMap(([path, operations]) =>
        Object.keys(operations)
          .filter((method) => method !== 'get')
          .map(
            (method) => `${method.toUpperCase()} ${path.replace('/api/v1/admin/', '').replaceAll(/\{\w+\}/g, 'ID')}`,
          ),
      );
    expect(changing.length).toBeGreaterThan(10);
    expect(changing.filter((route) => !audited.has(route))).toEqual([]);
  });
});
