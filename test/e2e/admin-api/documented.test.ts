import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkerOfAnswer } from '../../open-api/documented.js';
import type { OpenApiDocument } from '../../open-api/open-api-shape.js';
import { OperatorClient } from '../../support/operator-client.js';
import { startService, type RunningService } from '../../support/service.js';

describe('the answers of the API for operators', () => {
  let service: RunningService;
  let client: OperatorClient;
  let document: OpenApiDocument;

  beforeAll(async () => {
    service = await startService();
    client = await OperatorClient.of(service.app, service.origin, 'write');
    document = (await (await fetch(`${service.origin}/api/openapi.json`)).json()) as OpenApiDocument;
  });
  afterAll(() => service.stop());

  /** Sends the request, and compares its answer with the document. */
  async function documented(method: 'get' | 'post', template: string, id = '', body?: object) {
    const path = template.replace(/\{\w+\}/, id);
    const { status, body: answer } = await client.send(method.toUpperCase(), path, body);
    const checker = checkerOfAnswer(document, method, `/api/v1/admin/${template}`, status);
    expect({ path, status, error: checker.safeParse(answer).error }).toEqual({ path, status, error: undefined });
    expect(status).toBeLessThan(300);
    return answer as Readonly<Record<'id', string>>;
  }

  it('have the members that the OpenAPI document describes, and no others', async () => {
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
