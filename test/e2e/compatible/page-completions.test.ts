import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenApiDocument } from '../../open-api/open-api-shape.js';
import { MODEL } from '../../support/catalog.js';
import { signedIn, type AccountSession } from '../../support/account-session.js';
import { startService } from '../../support/service.js';
import { stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';

const PATH = '/api/v1/playground/completions';
const BODY = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello!' }], stream: true });

describe('the completions of a page', () => {
  let stage: Stage;
  let account: AccountSession;

  beforeAll(async () => {
    stage = await setStage(1, { env: { COMPATIBLE_APIS: 'none' } });
    account = await signedIn(stage.service);
  });
  afterAll(() => stage.clear());

  const send = (headers: Record<string, string>, origin = stage.origin) =>
    fetch(origin + PATH, { method: 'POST', body: BODY, headers: { 'content-type': 'application/json', ...headers } });
  const session = () => ({ cookie: `${account.cookie.name}=${account.cookie.value}` });
  const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;

  it('are streamed in the format of Chat Completions to a session, also without the compatible interfaces', async () => {
    const response = await send({ ...session(), origin: stage.origin, 'idempotency-key': 'one' });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-stream-id')).toMatch(/./);
    const text = await response.text();
    expect(text).toContain('"object":"chat.completion.chunk"');
    expect(text.trim().endsWith('data: [DONE]')).toBe(true);
  });

  it('are refused to API keys, without a session, and to the pages of other sites', async () => {
    const before = stage.provider.calls.length;
    const withKey = await send({ authorization: `Bearer ${stage.key}` });
    expect([withKey.status, await codeOf(withKey)]).toEqual([403, 'forbidden']);
    const without = await send({ origin: stage.origin });
    expect([without.status, await codeOf(without)]).toEqual([401, 'unauthenticated']);
    const foreign = await send({ ...session(), origin: 'https://elsewhere.example' });
    expect([foreign.status, await codeOf(foreign)]).toEqual([403, 'forbidden']);
    const unnamed = await send(session());
    expect(unnamed.status).toBe(403);
    const other = await send({ ...session(), origin: stage.origin, 'x-account-id': 'somebody' });
    expect(await codeOf(other)).toBe('account_mismatch');
    expect(stage.provider.calls).toHaveLength(before);
  });

  it('are the only ones of the compatible interfaces with COMPATIBLE_APIS=none, also in the OpenAPI document', async () => {
    for (const path of ['/api/v1/chat/completions', '/api/v1/models']) {
      const method = path.endsWith('models') ? 'GET' : 'POST';
      const refused = await stream(stage.origin, { path, key: stage.key, method });
      expect([refused.status, (await refused.error()).code]).toEqual([404, 'not_found']);
    }
    const document = (await (await fetch(`${stage.origin}/api/openapi.json`)).json()) as OpenApiDocument;
    expect(Object.keys(document.paths)).not.toContain('/api/v1/chat/completions');
    const schemas = Object.keys(document.components.schemas);
    expect(schemas.filter((name) => /Completion|Response|Message[A-Z]/.test(name))).toEqual([]);
    expect(document.components.securitySchemes).not.toHaveProperty('x-api-key');
  });

  it('are not there without their plugin, and the playground then offers no tools', async () => {
    const service = await startService({ env: { PLUGINS: 'dashboard,durable' } });
    const { cookie } = await signedIn(service);
    const headers = { cookie: `${cookie.name}=${cookie.value}`, origin: service.origin };
    expect((await send(headers, service.origin)).status).toBe(404);
    const page = await (await fetch(`${service.origin}/playground`, { headers })).text();
    expect(page).toMatch(/<div hidden(?:="")?><label for="tools">/);
    await service.stop();
  });
});
