import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ERRORS } from '../../src/platform/common/service-error.js';
import { Metrics } from '../../src/plugins/metrics/metrics.js';
import { StreamMetrics } from '../../src/plugins/metrics/families/stream-families.js';
import { MetricsSources } from '../../src/plugins/metrics/metrics-sources.js';
import type { RedisConnection } from '../../src/platform/redis/redis-connection.js';
import { STREAM_OUTCOMES } from '../../src/usage/record/usage-record.js';
import { readMetrics, scrape, type Series } from '../support/metrics.js';
import { programAt } from '../support/program.js';
import { stream } from '../support/sse-client.js';
import { setStage, type Stage } from '../support/stage.js';
import { waitFor } from '../support/wait-for.js';
import { ROOT } from './folders.js';
import { readExpression } from './promql.js';

interface Alerts {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly labels: { readonly severity: string };
      readonly annotations: { readonly summary: string };
    }[];
  }[];
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly type: string; readonly definition?: string }[] };
}

const promtool = programAt('promtool');
const read = (name: string): string => readFileSync(join(ROOT, 'deploy', 'observability', name), 'utf8');
const rules = (parse(read('alerts.yaml')) as Alerts).groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('dashboard.json')) as Dashboard;
const panels = dashboard.panels.filter(({ type }) => type !== 'row');

/** Prometheus gives these to all that it reads from a process; `up` is its own. */
const TARGET_LABELS = ['job', 'instance', 'namespace', 'pod'];
const OF_PROMETHEUS = new Map([['up', new Set<string>()]]);
const KNOWN_VALUES: Readonly<Record<string, readonly string[]>> = {
  outcome: STREAM_OUTCOMES,
  code: Object.keys(ERRORS),
  state: ['closed', 'open', 'half_open'],
  quantile: ['0.5', '0.99', '1'],
  source: ['reported', 'estimated'],
};

/** What Grafana puts in for its variables. */
const filledIn = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.*');

const expressions = [
  ...rules.map(({ alert, expr }) => [`the alert ${alert}`, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }, index) => [`the panel ${title}, ${index + 1}`, filledIn(expr)] as const),
  ),
];

describe('deploy/observability', () => {
  let stage: Stage;
  /** The labels of each metric that a service shows that has all there is. */
  const shown = new Map<string, Set<string>>();

  beforeAll(async () => {
    stage = await setStage(2, { env: { METRICS_PORT: '0' }, tiers: { free: { requests_per_minute: 3 } } });
    stage.provider.next((call) => {
      call.refuse(500);
    });
    for (let count = 0; count < 4; count++) await stream(stage.origin, { key: stage.key });
    collectGarbage();
    const series = await waitFor(async () => {
      const seen = await scrape(stage.service);
      return seen.some(({ name }) => name.startsWith('nodejs_gc_')) ? seen : undefined;
    }, 'word of the garbage');
    note(series);
    const withRedis = new Metrics(
      besideRedis(stage.service.app.get(MetricsSources, { strict: false })),
      stage.service.app.get(StreamMetrics, { strict: false }),
      [],
    );
    note(readMetrics(await withRedis.text()));
    withRedis.stop();
  });
  afterAll(() => stage.clear());

  function note(series: readonly Series[]): void {
    for (const { name, labels } of series) {
      const known = shown.get(name) ?? new Set();
      for (const label of Object.keys(labels)) known.add(label);
      shown.set(name, known);
    }
  }

  it.each(expressions)('queries, in %s, metrics that the service exposes', (_, source) => {
    const { selectors, grouping } = readExpression(source);

    const labels = new Set(TARGET_LABELS);
    for (const { metric, matchers } of selectors) {
      const known = OF_PROMETHEUS.get(metric) ?? shown.get(metric);
      expect(known, `${metric} is not shown`).toBeDefined();
      for (const label of known ?? []) labels.add(label);
      for (const { label, isRegex, value } of matchers) {
        expect([...(known ?? []), ...TARGET_LABELS], `${metric} has no label ${label}`).toContain(label);
        const values = KNOWN_VALUES[label];
        if (values === undefined) continue;
        for (const one of isRegex ? value.split('|') : [value]) expect(values, `of ${label}`).toContain(one);
      }
    }
    for (const label of grouping) expect([...labels], 'grouped by a label that is not there').toContain(label);
  });

  it.skipIf(promtool === undefined)('has expressions that promtool accepts, in alerts and panels', () => {
    const rule = ([, expr]: readonly [string, string], index: number) => ({ record: `expression_${index}`, expr });
    const folder = mkdtempSync(join(tmpdir(), 'expressions-'));
    const file = join(folder, 'rules.json');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'expressions', rules: expressions.map(rule) }] }));
    const { status, stderr } = spawnSync(promtool ?? '', ['check', 'rules', file], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  it('shows, in legends, labels that the expressions keep', () => {
    for (const { title, targets = [] } of panels) {
      for (const { expr, legendFormat } of targets) {
        const { grouping } = readExpression(filledIn(expr));
        for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(grouping, title).toContain(label);
      }
    }
  });

  it('has alerts with names of their own, a severity and a summary', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, labels, annotations } of rules) {
      expect(['warning', 'critical'], alert).toContain(labels.severity);
      expect(annotations.summary, alert).not.toBe('');
    }
  });

  it('has panels with numbers of their own, and variables from metrics that are there', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    expect(panels.every(({ targets = [] }) => targets.length > 0)).toBe(true);
    for (const { type, definition = '' } of dashboard.templating.list) {
      if (type !== 'query') continue;
      const [, metric = ''] = /^label_values\((\w+), job\)$/.exec(definition) ?? [];
      expect(shown.has(metric), definition).toBe(true);
    }
  });

  it('shows on the dashboard every metric of the service', () => {
    const asked = new Set(
      expressions.flatMap(([, source]) => readExpression(source).selectors.map(({ metric }) => metric)),
    );
    const families = [...shown.keys()].filter((name) => name.startsWith('chat_')).map(familyOf);
    for (const family of new Set(families)) {
      expect([...asked].map(familyOf), `${family} is on no panel`).toContain(family);
    }
  });
});

/** The first that Node does may come too late for the test. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

function besideRedis(sources: MetricsSources): MetricsSources {
  return Object.assign(Object.create(MetricsSources.prototype) as MetricsSources, sources, {
    redis: { isUnavailable: false } as RedisConnection,
  });
}

/** The parts of a histogram are one metric. */
function familyOf(name: string): string {
  return name.replace(/_(bucket|sum|count)$/, '');
}
