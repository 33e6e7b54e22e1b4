import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS } from '../../../src/platform/common/service-error.js';
import { STREAM_OUTCOMES } from '../../../src/usage/record/usage-record.js';
import { MODEL } from '../../support/catalog.js';
import { readMetrics, type Series } from '../../support/metrics.js';
import { programAt } from '../../support/program.js';
import { refusing } from '../../support/scripts.js';
import { get, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';

const promtool = programAt('promtool');
const LIMITS = { requests_per_minute: 20, concurrent_streams: 2, tokens_per_day: 100_000 };

describe('the text of /metrics', () => {
  let stage: Stage;
  let fresh: string;
  let used: string;

  beforeAll(async () => {
    stage = await setStage(2, { env: { METRICS_PORT: '0' }, tiers: { free: LIMITS, open: {} } });
    const text = async () => (await get(stage.service.metricsOrigin(), '/metrics')).body();
    fresh = await text();
    stage.provider.next(refusing(500));
    for (let count = 0; count < 2; count++) await stream(stage.origin, { key: stage.key });
    await get(stage.origin, '/nowhere');
    used = await text();
  });
  afterAll(() => stage.clear());

  const labelsOf = (name: string) =>
    readMetrics(fresh)
      .filter((series) => series.name === name)
      .map(({ labels }) => labels);

  it.skipIf(promtool === undefined)('passes promtool check metrics, before and after requests', () => {
    for (const input of [fresh, used]) {
      const { status, stdout, stderr } = spawnSync(promtool ?? '', ['check', 'metrics'], { input, encoding: 'utf8' });
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
    }
  });

  it('names each family by the rules of Prometheus', () => {
    const kinds = [...used.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', kind = '']) => [name, kind] as const);
    const helped = new Set([...used.matchAll(/^# HELP (\S+) \S/gm)].map(([, name]) => name));
    expect(kinds.length).toBeGreaterThan(30);
    for (const [name, kind] of kinds) {
      expect(helped, name).toContain(name);
      expect(name.endsWith('_total'), name).toBe(kind === 'counter');
      expect(name, name).toMatch(/^[a-z][a-z0-9_]*$/);
      expect(name, name).not.toMatch(/_(?:ms|milliseconds|minutes|kilobytes)(?:_|$)/);
    }
    const withQuantile = new Set(readMetrics(used).flatMap(({ name, labels }) => ('quantile' in labels ? [name] : [])));
    for (const [name, kind] of kinds) if (withQuantile.has(name)) expect(kind, name).toBe('summary');
  });

  it('has the series of all errors from the start, with 0', () => {
    const zero = ({ value }: Series) => value === 0;
    const counted = readMetrics(fresh).filter(({ name }) =>
      /^chat_(?:errors|limits_hit|upstream_errors)_total$/.test(name),
    );
    expect(counted.every(zero)).toBe(true);
    expect(labelsOf('chat_errors_total').map(({ code }) => code)).toEqual(Object.keys(ERRORS));
    const upstreamErrors = [
      ...['unauthorized', 'credentials_unavailable', 'server', 'connection', 'protocol', 'rejected'].map((kind) => [
        'upstream_error',
        kind,
      ]),
      ...[
        ['upstream_unavailable', 'rate_limited'],
        ['upstream_unavailable', 'server'],
        ['upstream_timeout', 'timeout'],
        ['upstream_rejected', 'rejected'],
        ['content_filtered', 'rejected'],
      ],
    ];
    expect(labelsOf('chat_upstream_errors_total')).toEqual(
      ['acme', 'backup'].flatMap((upstream) => upstreamErrors.map(([code, kind]) => ({ upstream, code, kind }))),
    );
    expect(labelsOf('chat_limit_rejections_total')).toEqual([
      { limit: 'sign_in', tier: 'none' },
      { limit: 'operator_api', tier: 'none' },
      ...[...Object.keys(LIMITS), 'reports', 'pages', 'token_counts', 'replays'].map((limit) => ({
        limit,
        tier: 'free',
      })),
      ...['reports', 'pages', 'token_counts', 'replays'].map((limit) => ({ limit, tier: 'open' })),
    ]);
    expect(labelsOf('chat_streams_total')).toEqual(STREAM_OUTCOMES.map((outcome) => ({ model: MODEL, outcome })));
  });
});
