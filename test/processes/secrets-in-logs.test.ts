import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFile, MODEL, routesTo } from '../support/catalog.js';
import { OtlpCollector } from '../support/otlp-collector.js';
import { Installation, type SpawnedProcess } from '../support/process.js';
import { rawRequest } from '../support/raw-request.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { get, openStream, stream, type ReceivedStream } from '../support/sse-client.js';

/** What must not be found in anything that operators read. Each is planted in a place of its own, and says which. */
const planted = new Map<string, string>();
const plant = (place: string): string => {
  const secret = `planted${Math.random().toString(36).slice(2)}${planted.size}`;
  planted.set(place, secret);
  return secret;
};

const EMAIL = 'ada@example.com';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

describe('what a whole run writes down at LOG_LEVEL=trace', () => {
  let installation: Installation;
  let provider: ScriptedProvider;
  let collector: OtlpCollector;
  let service: SpawnedProcess;
  let metrics: string;
  const answered: ReceivedStream[] = [];

  beforeAll(async () => {
    provider = await ScriptedProvider.start();
    collector = await OtlpCollector.start();
    const catalog = routesTo([provider]);
    const providerKey = plant('the key of the provider');
    const upstreams = {
      acme: {
        ...catalog.upstreams['acme'],
        api_key: providerKey,
        headers: { 'X-Team': plant('a header of the provider') },
      },
    };
    installation = await Installation.create(configFile({ ...catalog, upstreams }));
    const password = plant('the password of the account');
    await installation.admin('account', 'create', '--email', EMAIL, '--password', password);
    const create = () => installation.admin('key', 'create', '--email', EMAIL, '--name', plant('the name of a key'));
    const { key = '' } = await create();
    const revoked = await create();
    planted.set('the API key', key).set('the revoked API key', revoked['key'] ?? '');
    service = installation.start({
      LOG_LEVEL: 'trace',
      METRICS_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    });
    const origin = await service.origin();
    await streams(origin, key);
    await refusals(origin, key, revoked);
    await signIns(origin, password);
    metrics = await (await get(/Metrics at (http:\S+)\/metrics/.exec(service.stdout)?.[1] ?? '', '/metrics')).body();
    service.signal('SIGTERM');
    await service.exited;
  }, 120_000);

  afterAll(async () => {
    await installation.remove();
    await provider.stop();
    await collector.stop();
  });

  const send = async (origin: string, options: Parameters<typeof stream>[1]): Promise<void> => {
    answered.push(await stream(origin, options));
  };

  /** Those that are whole, and all ways for a provider to fail, with what was asked in its mouth. */
  async function streams(origin: string, key: string): Promise<void> {
    const prompt = plant('a prompt');
    const messages = [
      { role: 'system', content: plant('a system prompt') },
      { role: 'assistant', content: plant('an earlier answer') },
      { role: 'user', content: prompt },
    ];
    const whole = {
      key,
      body: { messages },
      headers: { 'user-agent': plant('a user agent'), cookie: `a=${plant('a cookie')}` },
    };
    provider.next(
      (call) => {
        call.answer(plant('an answer'));
      },
      (call) => {
        const error = { message: `max_tokens: No: ${prompt}`, type: 'invalid_request_error', param: prompt };
        call.refuse(400, {}, JSON.stringify({ error }));
      },
      (call) => {
        const labels = { type: plant('the type of an error'), code: plant('the code of an error'), status: prompt };
        call.refuse(
          400,
          {},
          JSON.stringify({ error: { ...labels, metadata: { error_type: plant('an error type') } } }),
        );
      },
      (call) => {
        call.head().text('Hi').failure(plant('the type of a failure after text'), 'x').end();
      },
      (call) => {
        call.head().text('Hi').finish(plant('a finish reason')).endMarker().end();
      },
      // Too many failures in a row would open the circuit of the route.
      (call) => {
        call.answer('Hi');
      },
      (call) => {
        call.refuse(500, {}, `<html>${prompt}</html>`);
      },
      (call) => {
        call.garbage(`${prompt}\r\n\r\n`);
      },
      (call) => {
        call
          .head(200, { 'content-type': 'application/json' })
          .write(JSON.stringify({ answer: prompt }))
          .end();
      },
      (call) => {
        call.head().write(`data: {"not": json, ${prompt}}\n\n`).end();
      },
      (call) => {
        call.head().text(plant('half an answer')).failure('server_error', `It broke at ${prompt}`).end();
      },
      async (call) => {
        await call.head().text(plant('an answer that broke off')).cut();
      },
    );
    for (let count = 0; count < 12; count++) await send(origin, whole);
    provider.next((call) => void call.head().text(plant('an answer that nobody read')));
    const left = await openStream(origin, whole);
    await left.block(1);
    left.leave();
    answered.push(left);
  }

  async function refusals(origin: string, key: string, revoked: Record<string, string>): Promise<void> {
    await installation.admin('key', 'revoke', '--id', revoked['id'] ?? '');
    for (const options of [
      { key, body: `{"model": "${plant('JSON that is none')}` },
      { key, body: { [plant('an unknown member')]: 1 } },
      { key, body: { messages: [{ role: plant('a wrong role'), content: '' }] } },
      { key, body: { model: `acme/${plant('an unknown model')}` } },
      { key, body: plant('a body of text'), headers: { 'content-type': 'text/plain' } },
      { key: plant('a wrong key') },
      { key: revoked['key'] },
      { headers: { authorization: `Basic ${plant('a Basic authorization')}` } },
      { path: `/api/v1/chat/stream?access_token=${plant('a key in the query')}` },
      { key, path: `/${plant('a path')}/x?q=${plant('a query')}` },
      { key, method: 'DELETE', path: `/api/v1/chat/stream?${plant('the query of a wrong method')}` },
      { key, headers: { traceparent: plant('a traceparent'), 'x-request-id': `<${plant('a malformed request id')}>` } },
      { key, method: 'GET', path: `/api/v1/usage?from=${plant('the query of a report')}` },
      { key, method: 'GET', path: `/api/v1/%zz${plant('a path that cannot be decoded')}` },
    ]) {
      await send(origin, options);
    }
    const head = `POST /api/v1/chat/stream HTTP/1.1\r\nHost: x\r\n${plant('a header that is none')}\r\n\r\n`;
    expect(await rawRequest(origin, head)).toContain('400');
  }

  async function signIns(origin: string, password: string): Promise<void> {
    const signIn = (secret: string, cookie?: string) =>
      send(origin, {
        path: '/sign-in',
        headers: { ...FORM, origin, ...(cookie === undefined ? {} : { cookie }) },
        body: new URLSearchParams({ email: EMAIL, password: secret }).toString(),
      });
    await signIn(plant('a wrong password'));
    await signIn(password);
    const [cookie = `__Host-session=${plant('a wrong session')}`] = answered.at(-1)?.headers['set-cookie'] ?? [];
    const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split('=');
    if (value !== '') planted.set('the session', value);
    await send(origin, { headers: { cookie: `${name}=${value}` } });
  }

  it('is one line for each request, as JSON', () => {
    const lines = service.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const requests = lines.filter(({ context }) => context === 'Request');

    expect(requests).toHaveLength(answered.length);
    const whole = requests.find(({ outcome }) => outcome === 'completed');
    expect(whole).toMatchObject({
      requestId: answered[0]?.headers['x-request-id'],
      method: 'POST',
      route: '/api/v1/chat/stream',
      status: 200,
      keyPrefix: planted.get('the API key')?.slice(0, 12),
      model: MODEL,
      upstream: 'acme',
      attempts: 1,
    });
    for (const member of ['accountId', 'durationMs', 'firstTextMs', 'inputTokens', 'outputTokens', 'bytes']) {
      expect(whole).toHaveProperty(member);
    }
    expect(requests.map(({ outcome }) => outcome)).toEqual(
      expect.arrayContaining(['completed', 'rejected', 'upstream_failed', 'client_gone', undefined]),
    );
    expect(requests.every(({ requestId }) => typeof requestId === 'string')).toBe(true);
  });

  it('holds nothing that was said, and nothing that opens a door', () => {
    for (const [place, secret] of planted) {
      expect(secret, place).not.toBe('');
      expect(service.stdout, place).not.toContain(secret);
      expect(service.stderr, place).not.toContain(secret);
      expect(collector.raw, `${place}, in a trace`).not.toContain(secret);
      expect(metrics, `${place}, in the metrics`).not.toContain(secret);
    }
    expect(service.stdout).not.toContain(EMAIL);
    expect(collector.spans.length).toBeGreaterThan(answered.length);
  });

  it('answers each request with its id', () => {
    for (const { headers } of answered) expect(headers['x-request-id']).toMatch(/^[\w-]{36}$/);
  });
});
