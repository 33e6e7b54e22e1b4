import { context, trace } from '@opentelemetry/api';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ReportingExporter, startTracing, type RunningTracing } from '../../../../src/plugins/tracing/start-tracing.js';
import { OtlpCollector } from '../../../support/otlp-collector.js';
import { startSilentServer } from '../../../support/silent-server.js';

const FLUSH_MS = 2_000;
const SLACK_MS = 3_000;

type Exporter = ConstructorParameters<typeof ReportingExporter>[0];
type Result = Parameters<Parameters<Exporter['export']>[1]>[0];
const SENT = { code: 0 } as unknown as Result;
const LOST = { code: 1 } as unknown as Result;

describe('the exporter of spans', () => {
  const results: Result[] = [];
  const inner = {
    export: (_: unknown, done: (result: Result) => void) => {
      done(results.shift() ?? SENT);
    },
    shutdown: vi.fn(() => Promise.resolve()),
    forceFlush: vi.fn(() => Promise.resolve()),
  };

  it('reports once that the collector is unavailable, once that it is available again, and passes each result on', () => {
    const [changed, done] = [vi.fn(), vi.fn()];
    const exporter = new ReportingExporter(inner, changed);
    const all: Result[] = [SENT, { ...LOST, error: new Error('away') }, LOST, SENT, SENT];
    results.push(...all);
    for (let count = 0; count < all.length; count++) exporter.export([], done);
    expect(changed.mock.calls).toEqual([[true], [false]]);
    expect(done.mock.calls.map(([result]) => result as Result)).toEqual(all);
  });
});

describe('traces', () => {
  let running: RunningTracing | undefined;
  afterEach(() => stop());
  const start = (endpoint: string): RunningTracing =>
    (running = startTracing({ endpoint, serviceName: 'chat', resourceAttributes: {} }, () => undefined));
  const stop = async () => {
    const tracing = running;
    running = undefined;
    await tracing?.stop();
  };

  it('do not hold up the stop for longer than two seconds, when the collector does not answer', async () => {
    const silent = await startSilentServer();
    const tracing = start(`http://${silent.authority}`);
    tracing.tracer.startSpan('lost').end();
    const since = performance.now();
    await stop();
    const tookMs = performance.now() - since;
    expect(tookMs).toBeGreaterThan(FLUSH_MS - 10);
    expect(tookMs).toBeLessThan(FLUSH_MS + SLACK_MS);
    await silent.stop();
  });

  it('leave nothing registered in the process, so that another service in it can trace', async () => {
    const collector = await OtlpCollector.start();
    for (const name of ['one', 'other']) {
      start(collector.endpoint);
      const span = trace.getTracer('global').startSpan(name);
      context.with(trace.setSpan(context.active(), span), () => {
        expect(trace.getActiveSpan()).toBe(span);
      });
      span.end();
      await stop();
      expect(trace.getTracer('global').startSpan('afterwards').isRecording()).toBe(false);
      context.with(trace.setSpan(context.active(), span), () => {
        expect(trace.getActiveSpan()).toBeUndefined();
      });
    }
    expect(collector.spans.map(({ name }) => name)).toEqual(['one', 'other']);
    await collector.stop();
  });
});
