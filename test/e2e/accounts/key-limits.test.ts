import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import type { KeyLimitChanges } from '../../../src/accounts/api-keys/api-key.entity.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { adminCommand } from '../../support/admin-command.js';
import { routesTo } from '../../support/catalog.js';
import { testEngines, urlOf } from '../../support/database.js';
import { KNOWN_WITHIN_MS } from '../../support/known-within.js';
import { answering } from '../../support/scripts.js';
import { get, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { lastBefore } from '../../support/wait-for.js';

const PASSWORD = 'correct horse battery';
const USAGE = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 6, completion_tokens: 4 } })}\n\n`;

describe('an API key with limits of its own', () => {
  let stage: Stage;
  let accountId: string;

  beforeAll(async () => {
    stage = await setStage(1, {
      catalog: (providers) => {
        const { upstreams, models } = routesTo(providers);
        const [model = {}] = models;
        return { upstreams, models: [model, { ...model, id: 'acme/slow' }, { ...model, id: 'other/one' }] };
      },
      env: { TRUST_PROXY: '1' },
    });
    stage.provider.answers((call) => {
      call.head().text('Hi').finish().write(USAGE).endMarker().end();
    });
    const accounts = stage.service.app.get(AccountsService, { strict: false });
    accountId = (await accounts.create({ email: 'ada@example.com', password: PASSWORD })).id;
  });
  afterAll(() => stage.clear());

  const keys = () => stage.service.app.get(ApiKeysService, { strict: false });
  const updates = () => stage.service.app.get(ApiKeysService, { strict: false });
  const keyWith = (limits: KeyLimitChanges) => keys().create(accountId, { name: 'limited', limits });
  const ask = async (key: string, options: { body?: object; headers?: Record<string, string> } = {}) => {
    const answer = await stream(stage.origin, { key, ...options });
    await answer.over;
    return answer;
  };
  const codeOf = async (key: string, options = {}) => (await (await ask(key, options)).error()).code;
  const modelsFor = async (key: string) => {
    const answer = await get(stage.origin, '/api/v1/chat/models', { Authorization: `Bearer ${key}` });
    const { models } = JSON.parse(await answer.body()) as { models: { id: string }[] };
    return { headers: answer.headers, ids: models.map(({ id }) => id) };
  };

  it('lists only its models in the formats of other APIs, too', async () => {
    const { key } = await keyWith({ models: ['acme/slow'] });
    const idsFor = async (headers: Record<string, string>) => {
      const response = await get(stage.origin, '/api/v1/models', headers);
      return (JSON.parse(await response.body()) as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    expect(await idsFor({ Authorization: `Bearer ${key}` })).toEqual(['acme/slow']);
    expect(await idsFor({ 'x-api-key': key, 'anthropic-version': '2023-06-01' })).toEqual(['acme/slow']);
    const statuses = ['acme/slow', 'other/one'].map(
      async (id) => (await get(stage.origin, `/api/v1/models/${id}`, { 'x-api-key': key })).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 404]);
  });

  it('gets the same error for another model as for an unknown one, in the formats of other APIs', async () => {
    const { key } = await keyWith({ models: ['acme/slow'] });
    const refusal = async (path: string, model: string) => {
      const response = await fetch(`${stage.origin}/api/v1/${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'x-api-key': key },
        body: JSON.stringify({
          model,
          messages: [{ role: 'user', content: 'Hi' }],
          ...(path === 'messages' && { max_tokens: 5 }),
        }),
      });
      const { error } = (await response.json()) as { error: unknown };
      return { status: response.status, error };
    };
    for (const path of ['chat/completions', 'messages', 'messages/count_tokens']) {
      const unknown = await refusal(path, 'acme/none');
      expect(unknown.status).toBe(404);
      expect(await refusal(path, 'other/one')).toEqual(unknown);
    }
  });

  it('uses and lists only its models, as if the others did not exist', async () => {
    const { key } = await keyWith({ models: ['acme/*'] });
    expect((await ask(key)).status).toBe(200);
    expect((await ask(key, { body: { model: 'acme/slow' } })).status).toBe(200);
    const [forbidden, unknown] = await Promise.all(
      ['other/one', 'acme/none'].map(async (model) => (await ask(key, { body: { model } })).error()),
    );
    expect(forbidden).toMatchObject({ code: 'model_not_found' });
    expect({ ...forbidden, request_id: '' }).toEqual({ ...unknown, request_id: '' });
    expect((await modelsFor(key)).ids).toEqual(['acme/fast', 'acme/slow']);
    expect((await modelsFor((await keyWith({ models: ['other/one'] })).key)).ids).toEqual(['other/one']);
    expect((await modelsFor(stage.key)).ids).toHaveLength(3);
    expect((await modelsFor('csk_nothing')).ids).toHaveLength(3);
  });

  it('gets a list of models that no shared cache keeps', async () => {
    const { headers } = await modelsFor((await keyWith({ models: ['acme/*'] })).key);
    expect(headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: 'Authorization' });
    const open = await get(stage.origin, '/api/v1/chat/models');
    expect(open.headers).toMatchObject({ vary: 'Authorization' });
    expect(open.headers['cache-control']).toMatch(/^public/);
  });

  it('does not read the durable stream of a model that it may not use', async () => {
    const headers = { 'Idempotency-Key': 'shared' };
    const [open, limited] = [await keyWith({}), await keyWith({ models: ['other/*'] })];
    expect((await ask(open.key, { headers })).status).toBe(200);
    expect(await codeOf(limited.key, { headers })).toBe('model_not_found');
  });

  it('has its own requests per minute, which the headers show', async () => {
    const { key } = await keyWith({ requestsPerMinute: 2 });
    const first = await ask(key);
    expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' });
    await ask(key);
    const refused = await ask(key);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50);
    const { code, message } = await refused.error();
    const expected = 'The API key allows 2 requests per minute. A minute begins with its first request.';
    expect([code, message]).toEqual(['rate_limit_exceeded', expected]);
    expect((await ask((await keyWith({})).key)).status).toBe(200);
  });

  it('has its own tokens per day, which a rotated key continues', async () => {
    const { id, key } = await keyWith({ tokensPerDay: 40, models: ['acme/fast'] });
    expect((await ask(key, { body: { max_tokens: 20 } })).status).toBe(200);
    const rotation = stage.service.app.get(ApiKeysService, { strict: false });
    const { created } = await rotation.rotate(id, accountId, { overlapMs: 0 });
    const again = await rotation.rotate(created.id, accountId, { overlapMs: 60_000 });
    const refused = await ask(again.created.key, { body: { max_tokens: 35 } });
    expect(refused.status).toBe(429);
    expect(await refused.error()).toMatchObject({ code: 'quota_exceeded' });
    expect((await ask(again.created.key, { body: { max_tokens: 20 } })).status).toBe(200);
    expect(await codeOf(again.created.key, { body: { model: 'other/one' } })).toBe('model_not_found');
  });

  it('is refused from other addresses, on every route', async () => {
    const { key } = await keyWith({ addresses: ['10.0.0.0/8', '::1'] });
    const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
    expect((await ask(key, from('10.1.2.3'))).status).toBe(200);
    expect((await ask(key, from('::1'))).status).toBe(200);
    const refused = await ask(key, from('192.0.2.1'));
    expect(refused.status).toBe(403);
    expect((await refused.error()).code).toBe('address_not_allowed');
    for (const path of ['/api/v1/usage', '/api/v1/chat/models']) {
      const headers = { Authorization: `Bearer ${key}`, ...from('192.0.2.1').headers };
      expect((await get(stage.origin, path, headers)).status).toBe(403);
    }
  });

  it('applies a change at once', async () => {
    const { id, key } = await keyWith({ models: ['acme/*'], requestsPerMinute: 1 });
    await ask(key);
    expect((await ask(key)).status).toBe(429);
    const changed = await updates().update(id, { limits: { models: ['other/one'], requestsPerMinute: null } });
    expect(changed).toMatchObject({ models: ['other/one'], requestsPerMinute: null, addresses: null });
    expect(await codeOf(key)).toBe('model_not_found');
    expect((await ask(key, { body: { model: 'other/one' } })).status).toBe(200);
  });

  it('cannot be changed after its end, nor by another account, nor to invalid limits', async () => {
    const { id } = await keyWith({});
    await expect(updates().update(id, { limits: {} }, 'another')).rejects.toMatchObject({ code: 'not_found' });
    await expect(
      updates().update(id, { limits: { models: ['*'], addresses: ['10.0.0.0/99'], requestsPerMinute: 0 } }),
    ).rejects.toMatchObject({ code: 'invalid_request', details: [{}, {}, {}] });
    await keys().revoke(id);
    await expect(updates().update(id, { limits: {} })).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

describe.each(await testEngines())('the commands for limits of keys on $name', (engine) => {
  const stages: Stage[] = [];
  afterEach(async () => {
    for (const stage of stages.splice(0)) await stage.clear();
  });

  it('set and remove limits of a running service within a second', async () => {
    const database = await engine.create();
    const url = urlOf(database);
    const stage = await setStage(1, { env: { DATABASE_URL: url } });
    stages.push(stage);
    stage.provider.answers(answering('Hi'));
    const admin = async (...words: string[]) => {
      const { exitCode, stdout, stderr } = await adminCommand({ DATABASE_URL: url }, words);
      return exitCode === 0 ? (JSON.parse(stdout) as Record<string, unknown>) : stderr;
    };
    await admin('account', 'create', '--email', 'bob@example.com', '--password', PASSWORD);
    const options = ['--models', 'acme/*,other/one', '--requests-per-minute', '10', '--tokens-per-day', '1000'];
    const created = await admin(
      ...['key', 'create', '--email', 'bob@example.com', '--name', 'n', ...options],
      ...['--addresses', '10.0.0.0/8,::1', '--expires-in-days', '30'],
    );
    const { id, key } = created as { id: string; key: string };
    expect((await stream(stage.origin, { key })).status).toBe(403);

    const changed = await admin('key', 'update', '--id', id, '--addresses', 'none', '--expires-in-days', 'none');
    expect(changed).toMatchObject({
      ...{ id, expires_at: null, models: ['acme/*', 'other/one'], requests_per_minute: 10, tokens_per_day: 1000 },
      addresses: null,
    });
    const changedAt = performance.now();
    const isAccepted = async () => (await stream(stage.origin, { key })).status === 200;
    expect((await lastBefore(isAccepted, 'the change to be known')) - changedAt).toBeLessThan(KNOWN_WITHIN_MS);
    expect(await admin('key', 'update', '--id', id, '--tokens-per-day', '0')).toMatch(/--tokens-per-day/);
    expect(await admin('key', 'update', '--id', id, '--addresses', 'somewhere')).toMatch(/addresses: "somewhere"/);
    expect(await admin('key', 'update', '--id', id, '--budget-per', 'day')).toMatch(/has no budget/);
    await stage.clear();
    stages.length = 0;
    await database.drop();
  });
});
