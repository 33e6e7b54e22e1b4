import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OperatorKeys } from '../../../src/accounts/operator-keys/operator-keys.service.js';
import { checkerOfAnswer } from '../../open-api/documented.js';
import type { OpenApiDocument } from '../../open-api/open-api-shape.js';
import { operatorSignedIn } from '../../support/account-session.js';
import { OperatorClient } from '../../support/operator-client.js';
import { startService, type RunningService } from '../../support/service.js';

const rateOf = (headers: Headers) => ({
  limit: headers.get('x-ratelimit-limit'),
  remaining: headers.get('x-ratelimit-remaining'),
});

describe('access to the API for operators', () => {
  let service: RunningService;
  let reader: OperatorClient;
  let writer: OperatorClient;
  let document: OpenApiDocument;

  beforeAll(async () => {
    service = await startService();
    reader = await OperatorClient.of(service.app, service.origin, 'read');
    writer = await OperatorClient.of(service.app, service.origin, 'write');
  });
  afterAll(() => service.stop());

  /** Every route below `/admin`, with a valid id in place of each parameter. */
  const routes = (): (readonly [method: string, path: string])[] => {
    const found: (readonly [string, string])[] = [];
    for (const { controllers } of service.app.get(ModulesContainer).values()) {
      for (const { metatype } of controllers.values()) {
        if (typeof metatype !== 'function') continue;
        const base = Reflect.getMetadata(PATH_METADATA, metatype) as string;
        const prototype = metatype.prototype as Readonly<Record<string, object>>;
        if (base !== 'admin') continue;
        for (const name of new MetadataScanner().getAllMethodNames(prototype)) {
          const handler = prototype[name] ?? {};
          const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
          if (method === undefined) continue;
          const path = `${base}/${Reflect.getMetadata(PATH_METADATA, handler) as string}`;
          const real = path.replace('admin/', '').replaceAll(/:\w+/g, '00000000-0000-4000-8000-000000000000');
          found.push([RequestMethod[method], real.replace(/\/+$/, '')]);
        }
      }
    }
    return found;
  };

  it('is refused to API keys, sessions, unknown keys and requests without a key, before the body is read', async () => {
    const { key } = await service.createKey();
    const { cookie } = await operatorSignedIn(service);
    const session = { authorization: '', cookie: `${cookie.name}=${cookie.value}`, origin: service.origin };
    const unknown = new OperatorClient(service.origin, reader.key.replace('csk_op_', 'csk_op_0'));
    expect(routes().length).toBeGreaterThan(5);
    for (const [method, path] of routes()) {
      const body = method === 'GET' ? undefined : '{ no JSON';
      const refused = [
        await new OperatorClient(service.origin, key).send(method, path, body),
        await unknown.send(method, path, body),
        await reader.send(method, path, body, session),
        await reader.send(method, path, body, { authorization: 'Basic b3BlcmF0b3I6a2V5' }),
      ];
      for (const { status, headers, body: answer } of refused) {
        expect({ method, path, status }).toEqual({ method, path, status: 401 });
        expect(headers.get('www-authenticate')).toContain('Bearer realm="chat"');
        expect(answer).toMatchObject({ error: { code: 'unauthenticated' } });
      }
    }
  });

  it('is read-only for a key with the scope read', async () => {
    for (const [method, path] of routes()) {
      const { status, body } = await reader.send(method, path, method === 'GET' ? undefined : '{ no JSON');
      if (method === 'GET') expect([200, 404]).toContain(status);
      else
        expect({ method, path, status, body }).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    }
  });

  it('is all that an operator key gives', async () => {
    for (const path of ['/api/v1/usage', '/api/v1/chat/stream']) {
      const response = await fetch(service.origin + path, {
        method: path.endsWith('stream') ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${writer.key}` },
      });
      expect(response.status).toBe(401);
      await response.text();
    }
  });

  it('ends at once with a revoked key', async () => {
    const { id, key } = await service.app.get(OperatorKeys, { strict: false }).create({ name: 'gone', scope: 'read' });
    const client = new OperatorClient(service.origin, key);
    expect((await client.get('accounts')).status).toBe(200);
    await service.app.get(OperatorKeys, { strict: false }).revoke(id);
    expect((await client.get('accounts')).status).toBe(401);
  });

  it('is limited for each key, and for each network that sends unknown keys', async () => {
    const busy = await OperatorClient.of(service.app, service.origin, 'read');
    const statuses = async (client: OperatorClient, count: number) => {
      const seen = new Map<number, number>();
      for (let sent = 0; sent < count; sent += 50) {
        const path = 'operator-keys?limit=1';
        const answers = await Promise.all(Array.from({ length: 50 }, () => client.get(path)));
        for (const { status } of answers) seen.set(status, (seen.get(status) ?? 0) + 1);
      }
      return seen;
    };
    const ofBusy = await statuses(busy, 650);
    expect(ofBusy).toEqual(
      new Map([
        [200, 600],
        [429, 50],
      ]),
    );
    const { status, headers, body } = await busy.get('accounts');
    expect({ status, body }).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(rateOf(headers)).toEqual({ limit: '600', remaining: '0' });
    const ofReader = await reader.get('accounts');
    expect(ofReader.status).toBe(200);
    expect(rateOf(ofReader.headers)).toMatchObject({ limit: '600' });
    expect(Number(ofReader.headers.get('x-ratelimit-reset'))).toBeGreaterThan(0);
  }, 60_000);

  it('answers other paths and methods with the errors of the API', async () => {
    const nowhere = await writer.get('nowhere');
    expect(nowhere).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    const method = await writer.send('PUT', 'accounts', {});
    expect(method).toMatchObject({ status: 405, body: { error: { code: 'method_not_allowed' } } });
    expect(method.headers.get('allow')).toContain('GET');
  });

  it('has its own security scheme in the OpenAPI document', async () => {
    const response = await fetch(`${service.origin}/api/openapi.json`);
    const document = (await response.json()) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security?: unknown }>>>>;
      readonly components: { readonly securitySchemes: Readonly<Record<string, object>> };
    };
    expect(document.components.securitySchemes['operator']).toMatchObject({ type: 'http', scheme: 'bearer' });
    const ofAdmin = Object.entries(document.paths).filter(([path]) => path.startsWith('/api/v1/admin/'));
    const operations = ofAdmin.flatMap(([, path]) => Object.values(path));
    expect(operations).toHaveLength(routes().length);
    for (const { security } of operations) expect(security).toEqual([{ operator: [] }]);
  });

  /** Sends the request, and compares its answer with the document. */
  async function documented(method: 'get' | 'post', template: string, id = '', body?: object) {
    const path = template.replace(/\{\w+\}/, id);
    const { status, body: answer } = await writer.send(method.toUpperCase(), path, body);
    const checker = checkerOfAnswer(document, method, `/api/v1/admin/${template}`, status);
    expect({ path, status, error: checker.safeParse(answer).error }).toEqual({ path, status, error: undefined });
    expect(status).toBeLessThan(300);
    return answer as Readonly<Record<'id', string>>;
  }

  it('gets answers with the members that the OpenAPI document describes, and no others', async () => {
    document = (await (await fetch(`${service.origin}/api/openapi.json`)).json()) as OpenApiDocument;
    const account = await documented('post', 'accounts', '', { email: 'ada@example.com' });
    const budget = { amount: 5, per: 'day' };
    const key = await documented('post', 'accounts/{account_id}/keys', account.id, { name: 'ci', budget });
    await documented('post', 'keys/{key_id}/rotate', key.id, {});
    await documented('post', 'keys/{key_id}/revoke', key.id);
    await documented('post', 'accounts/{account_id}/password-reset', account.id);
    await documented('post', 'invitations', '', { email: 'grace@example.com' });
    const { id } = await OperatorClient.of(service.app, service.origin, 'read');
    await documented('post', 'operator-keys/{operator_key_id}/revoke', id);
    await documented('get', 'accounts/{account_id}', account.id);
    await documented('get', 'accounts/{account_id}/keys', account.id);
    await documented('get', 'keys/{key_id}', key.id);
    for (const list of ['accounts', 'invitations', 'audit', 'usage', 'operator-keys']) await documented('get', list);
  });
});
