import { afterEach, describe, expect, it } from 'vitest';
import { OtlpCollector, type ReceivedSpan } from '../../support/otlp-collector.js';
import { beginning, refusing } from '../../support/scripts.js';
import { get, openStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';

const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const CALLER = `00-${TRACE_ID}-b7ad6b7169203331-01`;

describe('traces', () => {
  let collector: OtlpCollector;
  let stage: Stage;
  let isCleared = false;

  const set = async (providers = 1): Promise<void> => {
    isCleared = false;
    collector = await OtlpCollector.start();
    stage = await setStage(providers, {
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/`, OTEL_SERVICE_NAME: 'our-chat' },
    });
  };
  /** Spans are sent in batches, and what is left when the service stops. */
  const stop = async (): Promise<readonly ReceivedSpan[]> => {
    isCleared = true;
    await stage.clear();
    return collector.spans;
  };
  afterEach(async () => {
    if (!isCleared) await stage.clear();
    await collector.stop();
  });

  it('leave out the probes of a platform', async () => {
    await set();
    for (const path of ['/api/v1/health', '/api/v1/health/ready', '/api/v1/health?probe=1', '/api/v1/chat/models']) {
      await get(stage.origin, path, { traceparent: CALLER });
    }
    expect((await stop()).map(({ name }) => name)).toEqual(['GET /api/v1/chat/models']);
  });

  it('hold a span of the request and one of the provider, in the trace of the caller', async () => {
    await set();
    const { hostname, port } = new URL(stage.provider.origin);
    stage.provider.next((call) => {
      const usage = { prompt_tokens: 3, completion_tokens: 2 };
      call
        .head()
        .text('Hello')
        .finish()
        .write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`)
        .endMarker()
        .end();
    });
    const headers = { traceparent: CALLER, tracestate: 'acme=1', baggage: 'user=ada' };
    const { headers: sent } = await stream(stage.origin, {
      key: stage.key,
      headers,
      body: { max_tokens: 100, temperature: 0.5 },
    });
    const spans = await stop();

    const server = spans.find(({ kind }) => kind === SERVER);
    const client = spans.find(({ kind }) => kind === CLIENT);
    expect(server).toMatchObject({
      name: 'POST /api/v1/chat/stream',
      traceId: TRACE_ID,
      parentSpanId: 'b7ad6b7169203331',
      resource: { 'service.name': 'our-chat' },
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/api/v1/chat/stream',
        'http.response.status_code': 200,
        'http.response.header.x-request-id': [sent['x-request-id']],
      },
    });
    expect(client).toMatchObject({
      name: 'chat acme-model',
      traceId: TRACE_ID,
      parentSpanId: server?.spanId,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'chat.upstream': 'acme',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'acme-model',
        'gen_ai.request.max_tokens': 100,
        'gen_ai.request.temperature': 0.5,
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.usage.input_tokens': 3,
        'gen_ai.usage.output_tokens': 2,
        'server.address': hostname,
        'server.port': Number(port),
      },
    });
    const [call] = stage.provider.calls;
    expect(call?.headers.traceparent).toBe(`00-${TRACE_ID}-${client?.spanId ?? ''}-01`);
    expect(call?.headers.tracestate).toBe('acme=1');
    expect(call?.headers['baggage']).toBeUndefined();
    expect(collector.paths).toContain('/v1/traces');
    expect(collector.raw).not.toMatch(/Hello|world|csk_|secret-of/);
  });

  it('hold a span for each attempt, those that failed with why', async () => {
    await set(2);
    stage.provider.next(refusing(503));
    await stream(stage.origin, { key: stage.key });
    const spans = await stop();

    const attempts = spans.filter(({ kind }) => kind === CLIENT);
    expect(attempts.map(({ name }) => name)).toEqual(['chat acme-model', 'chat backup-model']);
    expect(attempts[0]).toMatchObject({
      status: { code: ERROR },
      attributes: { 'error.type': 'upstream_unavailable', 'chat.upstream': 'acme', 'gen_ai.provider.name': 'openai' },
    });
    expect(attempts[1]?.attributes['error.type']).toBeUndefined();
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  });

  it('record a stream that failed after its 200, and count a client that left as no fault', async () => {
    await set();
    stage.provider.next(async (call) => {
      call.head().text('Half');
      await call.cut('fin');
    });
    await stream(stage.origin, { key: stage.key });
    stage.provider.next(beginning('Hello'));
    const left = await openStream(stage.origin, { key: stage.key });
    await left.block(1);
    left.leave();
    await (
      await stage.provider.call(2)
    ).over;
    const spans = await stop();

    const servers = spans.filter(({ kind }) => kind === SERVER);
    expect(servers.map(({ attributes }) => attributes['chat.outcome'])).toEqual(['upstream_failed', 'client_gone']);
    expect(servers[0]).toMatchObject({ status: { code: ERROR }, attributes: { 'error.type': 'upstream_error' } });
    expect(servers[1]?.status.code).not.toBe(ERROR);
  });

  it('begin anew where traceparent is wrong, and keep to a caller that does not sample', async () => {
    await set();
    await stream(stage.origin, {
      key: stage.key,
      headers: { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` },
    });
    await stream(stage.origin, { key: stage.key, headers: { traceparent: CALLER.replace(/01$/, '00') } });
    const spans = await stop();

    expect(spans.filter(({ kind }) => kind === SERVER)).toHaveLength(1);
    expect(spans[0]?.traceId).not.toMatch(/^0+$/);
    expect(stage.provider.calls[1]?.headers.traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-00$`));
  });

  it('name no path that is not a route', async () => {
    await set();
    await get(stage.origin, '/a-secret-path?and=a-secret-query');
    const spans = await stop();

    expect(spans.map(({ name }) => name)).toEqual(['GET']);
    expect(collector.raw).not.toContain('secret');
  });

  it('send no header to a provider while they are off', async () => {
    collector = await OtlpCollector.start();
    isCleared = false;
    stage = await setStage();
    await stream(stage.origin, { key: stage.key, headers: { traceparent: CALLER } });
    expect(stage.provider.calls[0]?.headers.traceparent).toBeUndefined();
  });
});
