import { hasTrouble, isLate, type RouteAttempts, type StatusSnapshot, type UpstreamStatus } from './service-status.js';
import { count, countOf } from '../../format/numbers.js';
import { duration, LocalTime } from '../../format/times.js';
import { Section } from '../../parts/blocks.js';
import { pathWith } from '../../parts/query.js';
import { Table, type RowAction } from '../../parts/table.js';
import { STATUS_PATH } from '../../paths.js';

interface RouteSectionProps {
  readonly status: StatusSnapshot;
  readonly operatorId: string;
}

/** The upstreams and routes: those that requests cannot use now or whose last attempt failed, and all of them. */
export function RouteSection({ status, operatorId }: RouteSectionProps) {
  const { upstreams, upstreamsLeftOut } = status;
  const unavailable = upstreams.filter(({ state }) => state !== 'closed');
  const late = upstreams.filter(isLate);
  const failing = upstreams.filter((each) => each.state === 'closed' && hasTrouble(each));
  const tables = [
    ['unavailable', 'Not available now', unavailable],
    ['failing', 'The last attempt failed', failing],
    ['late', 'The first text is late', late],
  ] as const;
  return (
    <Section id="upstreams" title="Upstreams and routes">
      {unavailable.length + failing.length + late.length > 0 ? null : (
        <p>
          <span class="badge good">Available</span> All upstreams and routes.
        </p>
      )}
      {tables.map(([id, caption, rows]) =>
        rows.length === 0 ? null : (
          <RouteTable key={id} id={id} caption={caption} status={status} rows={rows} operatorId={operatorId} />
        ),
      )}
      <details id="all-routes">
        <summary>All {count(upstreams.length + upstreamsLeftOut)} upstreams and routes</summary>
        <RouteTable
          id="all"
          caption="All upstreams and routes"
          status={status}
          rows={upstreams}
          operatorId={operatorId}
        />
        {upstreamsLeftOut === 0 ? null : <p class="fine">{count(upstreamsLeftOut)} more are available.</p>}
      </details>
      <p class="fine">
        Attempts and errors are those of this replica. A probe asks one route a short question, also while its circuit
        is open; the provider charges it, and no account does. Closing a circuit concerns all replicas.
      </p>
    </Section>
  );
}

interface RouteTableProps extends RouteSectionProps {
  /** Of the heads of the rows, because a route can be in two tables. */
  readonly id: string;
  readonly caption: string;
  readonly rows: readonly UpstreamStatus[];
}

function RouteTable({ id, caption, status: { at, upstreams }, rows, operatorId }: RouteTableProps) {
  const attemptsOf = ({ name, model, attempts }: UpstreamStatus) =>
    model === undefined ? sumOf(upstreams.filter((each) => each.name === name)) : attempts;
  return (
    <Table
      caption={caption}
      showsCaption={id !== 'all'}
      isCards
      rows={rows}
      columns={[
        { title: 'Upstream', cell: ({ name }) => name },
        { title: 'Model', cell: ({ model }) => (model === undefined ? 'all' : <code>{model}</code>) },
        {
          title: 'State',
          cell: (each) => <span class={`badge ${hasTrouble(each) ? 'bad' : 'good'}`}>{stateLabel(each)}</span>,
        },
        { title: 'Why', cell: (each) => <StateText status={each} at={at} /> },
        rows.some((each) => waits(attemptsOf(each)) !== '') && {
          title: 'Waiting for a first text',
          cell: (each) => waits(attemptsOf(each)),
        },
        { title: 'Last 5 minutes', cell: (each) => rate(attemptsOf(each)) },
        { title: 'Since the start', cell: (each) => <Total of={attemptsOf(each)} at={at} /> },
      ]}
      actions={{
        headId: ({ name, model = '' }) => `${id}-${name}-${model}`.replaceAll(/[^\w-]/g, '-'),
        of: (each) => actionsOn(each, operatorId),
      }}
    />
  );
}

function actionsOn({ name: upstream, model, state }: UpstreamStatus, accountId: string): readonly RowAction[] {
  const action = (label: string, path: string): RowAction => {
    return { label, path: pathWith(`${STATUS_PATH}/${path}`, { upstream, model }), accountId };
  };
  return [
    ...(model === undefined ? [] : [action('Probe', 'probe')]),
    ...(state === 'closed' ? [] : [action('Close circuit', 'close')]),
  ];
}

/** The attempts at all routes of an upstream. */
function sumOf(upstreams: readonly UpstreamStatus[]): RouteAttempts | undefined {
  return upstreams
    .flatMap(({ attempts }) => attempts ?? [])
    .reduce<RouteAttempts | undefined>((sum, each) => (sum === undefined ? each : added(sum, each)), undefined);
}

function added(one: RouteAttempts, other: RouteAttempts): RouteAttempts {
  const errors = new Map(one.errors);
  for (const [name, number] of other.errors) errors.set(name, (errors.get(name) ?? 0) + number);
  return {
    waiting: one.waiting + other.waiting,
    longestWaitMs: Math.max(one.longestWaitMs, other.longestWaitMs),
    recent: {
      attempts: one.recent.attempts + other.recent.attempts,
      errors: one.recent.errors + other.recent.errors,
    },
    total: one.total + other.total,
    errors: [...errors],
    attemptedAgoMs: Math.min(one.attemptedAgoMs ?? Infinity, other.attemptedAgoMs ?? Infinity),
    lastError: undefined,
  };
}

/** How many attempts have no text yet, and for how long the oldest has waited. */
function waits(attempts: RouteAttempts | undefined): string {
  if (attempts === undefined || attempts.waiting === 0) return '';
  return `${count(attempts.waiting)}, the longest for ${duration(attempts.longestWaitMs / 1000)}`;
}

function rate(of: RouteAttempts | undefined): string {
  if (of === undefined || of.recent.attempts === 0) return '';
  const { attempts, errors } = of.recent;
  if (errors === 0) return countOf(attempts, 'attempt');
  return `${countOf(attempts, 'attempt')}, ${count(errors)} failed (${Math.round((100 * errors) / attempts)} %)`;
}

function Total({ of, at }: { readonly of: RouteAttempts | undefined; readonly at: number }) {
  if (of === undefined) return null;
  const { total: attempts, errors, attemptedAgoMs } = of;
  return (
    <>
      {countOf(attempts, 'attempt')}
      {attemptedAgoMs === undefined ? null : <>, the last at {clock(at - attemptedAgoMs)}</>}
      {errors.map(([code, n]) => `; ${code} ${count(n)}`)}
    </>
  );
}

function stateLabel({ state, isCooldown, failure }: UpstreamStatus): string {
  if (state === 'closed') return failure === undefined ? 'Available' : 'Failing';
  if (state === 'half_open') return 'Circuit half-open';
  return isCooldown ? 'Cooldown' : 'Circuit open';
}

interface StateTextProps {
  readonly status: UpstreamStatus;
  /** The time of the snapshot. */
  readonly at: number;
}

/**
 * Says until when requests may not try an upstream or a route, since when, and why. Says why the last attempt failed, or the last
 * that failed, if requests may try.
 */
export function StateText({ status, at }: StateTextProps) {
  const { state, waitMs, isCooldown, openForMs, failure, failedForMs, attempts } = status;
  if (state === 'closed') {
    const { lastError } = attempts ?? {};
    if (failure !== undefined) return <>{['last at ', clock(at - (failedForMs ?? 0)), `: ${failure}`]}</>;
    return lastError === undefined ? null : (
      <>{['last error at ', clock(at - lastError.agoMs), `: ${lastError.text}`]}</>
    );
  }
  const since = openForMs === undefined ? [] : ['since ', clock(at - openForMs), ` (${duration(openForMs / 1000)})`];
  const until = ['until ', clock(at + waitMs)];
  const why = failure === undefined ? 'as another replica was told' : `after ${failure}`;
  if (state === 'half_open') return <>{[...since, `: one request at a time may try, ${why}`]}</>;
  if (isCooldown) return <>{[...until, ', as the provider asked ', ...since, `, ${why}`]}</>;
  return <>{[...since, ', ', ...until, `, ${why}`]}</>;
}

/** The time of a moment, with seconds. */
function clock(moment: number) {
  return <LocalTime at={new Date(moment)} shows="time" />;
}
