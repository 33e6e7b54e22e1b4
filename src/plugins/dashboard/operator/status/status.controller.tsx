import { Get, Ip } from '@nestjs/common';
import { MINUTE_MS } from '../../../../plugin-api/core/common.js';
import { RateLimited } from '../../../../plugin-api/core/throttling.js';
import { CurrentPageRequest, PageController, type PageRequest } from '../../page-controller.decorator.js';
import { Pages } from '../../pages.js';
import { Section, Facts, Notice, type Fact } from '../../parts/blocks.js';
import { count, LocalTime, duration } from '../../numbers-and-times.js';
import { Table } from '../../parts/table.js';
import { pathWith, STATUS_PATH, WEBHOOKS_PATH } from '../../paths.js';
import { BarChart, type Series } from '../../usage/bar-chart.js';
import { OperatorOnly } from '../operator-actions.js';
import { KEPT_MINUTES, type Totals } from './minute-history.js';
import { ReplicaStatuses, type ReplicaStatus } from './replica-statuses.js';
import { RouteSection } from './routes.controller.js';
import type { StatusSnapshot, CountOf } from './service-status.js';

const NOTHING: Totals = { requests: 0, errors: 0, refused: 0, openStreams: 0 };

const CHARTS: readonly (readonly [title: string, series: readonly (readonly [keyof Totals, string, string])[]])[] = [
  ['Requests per minute', [['requests', 'Requests', 'blue']]],
  [
    'Errors per minute',
    [
      ['errors', 'Errors', 'red'],
      ['refused', 'Refused', 'amber'],
    ],
  ],
  ['Open streams', [['openStreams', 'Open', 'green']]],
];

interface MinuteChartsProps {
  /** The replicas whose numbers are added up. */
  readonly snapshots: readonly StatusSnapshot[];
  readonly now: number;
}

/** The last 60 minutes of all replicas together, as small charts. */
function MinuteCharts({ snapshots, now }: MinuteChartsProps) {
  const sums = sumsByMinute(snapshots);
  const present = Math.floor(now / MINUTE_MS);
  const minutes = Array.from({ length: KEPT_MINUTES + 1 }, (_, index) => present - KEPT_MINUTES + index);
  const rows = minutes.map((minute) => ({
    time: new Date(minute * MINUTE_MS).toISOString(),
    counts: sums.get(minute) ?? NOTHING,
  }));
  return (
    <Section id="minutes" title="Last 60 minutes">
      <div class="charts">
        {CHARTS.map(([title, series]) => (
          <BarChart
            key={title}
            title={title}
            unit="minute"
            days={rows.map(({ time }) => time)}
            series={series.map(([name, label, color]): Series => ({
              label,
              class: color,
              values: rows.map(({ counts }) => counts[name]),
            }))}
            isWhole
            textOf={count}
          />
        ))}
      </div>
      <details id="by-minute">
        <summary>By minute</summary>
        <Table
          caption="By minute, latest first"
          rows={rows.filter(({ counts }) => Object.values(counts).some((value) => value > 0)).reverse()}
          columns={[
            { title: 'Minute', cell: ({ time }) => <LocalTime at={new Date(time)} shows="time" /> },
            { title: 'Requests', isNumber: true, cell: ({ counts }) => count(counts.requests) },
            { title: 'Errors', isNumber: true, cell: ({ counts }) => count(counts.errors) },
            { title: 'Refused', isNumber: true, cell: ({ counts }) => count(counts.refused) },
            { title: 'Open streams', isNumber: true, cell: ({ counts }) => count(counts.openStreams) },
          ]}
        />
      </details>
      <p class="fine">
        <span class="needs-script">Choose a minute in a chart to see its values. </span>
        Requests are of all kinds, health checks and pages included. Errors are those of providers and of the service.
        The last minute is not over. Minutes before the start of a process are missing.
      </p>
    </Section>
  );
}

function sumsByMinute(snapshots: readonly StatusSnapshot[]): ReadonlyMap<number, Totals> {
  const sums = new Map<number, Totals>();
  for (const { minute, requests, errors, refused, openStreams } of snapshots.flatMap(({ minutes }) => minutes)) {
    const sum = sums.get(minute) ?? NOTHING;
    sums.set(minute, {
      requests: sum.requests + requests,
      errors: sum.errors + errors,
      refused: sum.refused + refused,
      openStreams: sum.openStreams + openStreams,
    });
  }
  return sums;
}

/**
 * The page of operators with the state of all replicas together, and of one replica in detail. The script replaces the content by
 * itself.
 */
@PageController(STATUS_PATH)
@RateLimited('pages')
@OperatorOnly()
export class StatusController {
  constructor(
    private readonly pages: Pages,
    private readonly statuses: ReplicaStatuses,
  ) {}

  /** @param address the address of the operator, as `TRUST_PROXY` makes the service see it. */
  @Get()
  async show(@CurrentPageRequest() { accountId, query, response }: PageRequest, @Ip() address: string): Promise<void> {
    const { own, others } = await this.statuses.all();
    const replicas = [own, ...(others ?? [])];
    const { replica: wanted } = query;
    const found = replicas.find(({ id }) => id === wanted);
    const isGone = wanted !== undefined && found === undefined;
    const shown = found ?? own;
    const status = shown.snapshot;
    const now = own.snapshot.at;
    const content = (
      <div class="usage" id="status">
        <h1>Status</h1>
        <p class="fine">
          At <LocalTime at={new Date(now)} shows="time" />.{' '}
          <span class="needs-script" id="updates" role="status">
            The page updates every 10 seconds.
          </span>
          <span class="without-script">Reload the page to update it.</span>{' '}
          {this.pages.has('webhooks') ? (
            <>
              See also the events that were sent to <a href={WEBHOOKS_PATH}>webhooks</a>.
            </>
          ) : null}
        </p>
        <Notice>
          {!status.isDatabaseUp &&
            'The database does not answer: requests are refused, and usage records wait in memory.'}
        </Notice>
        <Notice>{others === undefined && 'Redis does not answer, so other replicas are missing here.'}</Notice>
        <Notice>{isGone && 'This replica is gone. The page shows the replica that answers it.'}</Notice>
        <Notice tone="good">{query['done'] === 'closed' && 'The circuit was closed.'}</Notice>
        <RouteSection status={status} operatorId={accountId} />
        <MinuteCharts snapshots={replicas.map(({ snapshot }) => snapshot)} now={now} />
        {replicas.length === 1 ? null : (
          <Section id="replicas" title="Replicas">
            <ReplicaTable replicas={replicas} shownId={shown.id} />
          </Section>
        )}
        <Section id="process" title={status.processName}>
          <Facts facts={[...processFacts(status), ['Your address as seen by the service', address]]} />
        </Section>
        <CountSection id="refusals" title="Refused by a limit" columns={['Limit', 'Tier']} counts={status.refusals} />
        <CountSection id="shed" title="Refused to protect other callers" columns={['Reason']} counts={status.shed} />
        <CountSection id="errors" title="Errors" columns={['Code']} counts={status.errors} />
      </div>
    );
    const page = { title: 'Status', section: 'status', width: 'wide', style: 'usage.css' } as const;
    this.pages.send(response, { ...page, script: 'status.js', content });
  }
}

function processFacts(status: StatusSnapshot): readonly (Fact | false)[] {
  return [
    ['State', <StateBadge status={status} />],
    ['Version', status.version],
    ['Running for', duration(status.uptimeSeconds)],
    ['Open streams', count(status.openStreams)],
    ['Stream slots in use', count(status.slotsInUse)],
    ['Client connections', count(status.connections)],
    ['Database', <Availability isUp={status.isDatabaseUp} />],
    ['Redis', status.isRedisUp === undefined ? 'Not configured' : <Availability isUp={status.isRedisUp} />],
    status.replicas !== undefined && ['Replicas', count(status.replicas)],
    ['Configuration', <code>{status.configHash}</code>],
    ['Last load of the configuration', <LastLoad status={status} />],
  ];
}

function Availability({ isUp }: { readonly isUp: boolean }) {
  return <span class={isUp ? 'badge good' : 'badge bad'}>{isUp ? 'Available' : 'Unavailable'}</span>;
}

const RESULTS = { loaded: 'Loaded', unchanged: 'Unchanged', invalid: 'Invalid' } as const;

/** The result of the last load, and how often the file was read again. */
function LastLoad({ status: { lastConfigLoad, configReloads } }: { readonly status: StatusSnapshot }) {
  const { at, result, problem } = lastConfigLoad;
  const { succeeded, failed } = configReloads;
  return (
    <>
      <span class={result === 'invalid' ? 'badge bad' : 'badge'}>{RESULTS[result]}</span>{' '}
      <LocalTime at={new Date(at)} shows="second" />
      {problem === undefined ? '' : `: ${problem} The previous configuration stays in use.`}
      {succeeded + failed === 0 ? '' : ` (changed ${times(succeeded)}, refused ${times(failed)} since the start)`}
    </>
  );
}

const times = (number: number): string => (number === 1 ? 'once' : `${count(number)} times`);

interface CountSectionProps {
  readonly id: string;
  readonly title: string;
  /** The parts of each name are separated by a space. */
  readonly columns: readonly string[];
  readonly counts: readonly CountOf[];
}

/** A table of counts since the start of the process. */
function CountSection({ id, title, columns, counts }: CountSectionProps) {
  const partOf = (name: string, index: number) => (columns.length === 1 ? name : (name.split(' ')[index] ?? ''));
  return (
    <Section id={id} title={title}>
      <Table
        caption={title}
        rows={counts}
        empty="None since the start."
        columns={[
          ...columns.map((column, index) => ({ title: column, cell: ([name]: CountOf) => partOf(name, index) })),
          { title: 'Count', cell: ([, number]: CountOf) => count(number), isNumber: true },
        ]}
      />
    </Section>
  );
}

interface ReplicaTableProps {
  readonly replicas: readonly ReplicaStatus[];
  /** The id of the replica whose state the page shows. */
  readonly shownId: string;
}

/** The replicas with their versions and their load. Each leads to its state. */
function ReplicaTable({ replicas, shownId }: ReplicaTableProps) {
  const nameOf = ({ id, isThisProcess, snapshot }: ReplicaStatus) => (
    <>
      <a
        href={isThisProcess ? STATUS_PATH : pathWith(STATUS_PATH, { replica: id })}
        aria-current={id === shownId ? 'true' : undefined}
      >
        {snapshot.processName}
      </a>
      {isThisProcess ? <small> answers this page</small> : null}
    </>
  );
  return (
    <Table
      caption="Replicas"
      rows={replicas}
      columns={[
        { title: 'Replica', cell: nameOf },
        { title: 'Version', cell: ({ snapshot }) => snapshot.version },
        { title: 'Configuration', cell: ({ snapshot }) => <code>{snapshot.configHash}</code> },
        { title: 'State', cell: ({ snapshot }) => <StateBadge status={snapshot} /> },
        { title: 'Running for', cell: ({ snapshot }) => duration(snapshot.uptimeSeconds) },
        { title: 'Open streams', isNumber: true, cell: ({ snapshot }) => count(snapshot.openStreams) },
        { title: 'Slots in use', isNumber: true, cell: ({ snapshot }) => count(snapshot.slotsInUse) },
      ]}
    />
  );
}

/** Whether a process serves requests, stops, or misses a store. */
function StateBadge({ status }: { readonly status: StatusSnapshot }) {
  const { isDraining, isDatabaseUp, isRedisUp } = status;
  if (isDraining) return <span class="badge">Stopping</span>;
  if (!isDatabaseUp) return <span class="badge bad">Without database</span>;
  if (isRedisUp === false) return <span class="badge bad">Without Redis</span>;
  return <span class="badge good">Serving</span>;
}
