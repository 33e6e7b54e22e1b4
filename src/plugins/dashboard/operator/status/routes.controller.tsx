import { Inject } from '@nestjs/common';
import { ServiceError } from '../../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../../plugin-api/core/config.js';
import { type ProbeResult, RouteProbe, RouteStates } from '../../../../plugin-api/core/upstreams.js';
import { CurrentPageRequest, PageController, PostForm, type PageRequest } from '../../page-controller.decorator.js';
import { Pages } from '../../pages.js';
import { Outcome, resultPage } from '../../parts/action-pages.js';
import { Section } from '../../parts/blocks.js';
import { count, countOf, duration, LocalTime, seconds } from '../../numbers-and-times.js';
import { Table, type RowAction } from '../../parts/table.js';
import { pathWith, STATUS_PATH, textIn, type QueryValues } from '../../paths.js';
import { OperatorActions, OperatorOnly } from '../operator-actions.js';
import { hasTrouble, isLate, type RouteAttempts, type StatusSnapshot, type UpstreamStatus } from './service-status.js';

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

const MAX_LENGTH = 255;

/** What an operator does with routes and circuits. Each action is in the audit log before it happens. */
@PageController(STATUS_PATH)
@OperatorOnly()
export class RoutesController {
  constructor(
    private readonly pages: Pages,
    private readonly probe: RouteProbe,
    private readonly states: RouteStates,
    private readonly actions: OperatorActions,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Tries one route now, and answers with a page that has the result. */
  @PostForm('probe')
  async probeRoute(@CurrentPageRequest() request: PageRequest): Promise<void> {
    const { accountId, query, response } = request;
    const { upstream, model } = namesIn(query);
    const found = this.config.models.find(({ routes }) => routes.some(isWanted));
    const route = found?.routes.find(isWanted);
    if (found === undefined || route === undefined) throw notThere();
    const { requestId } = response.req.context;
    const entry = ['route.probed', `route:${upstream} ${route.model}`] as const;
    await this.actions.record(request, entry, 'A route was probed', { upstream, model: route.model });
    const result = await this.probe.run(found, route, requestId, accountId);
    const page = resultPage({
      ...{ title: 'Probe', section: 'status', accountId },
      from: { path: STATUS_PATH, name: 'Status' },
      facts: [
        ['Upstream', upstream],
        ['Model', <code>{route.model}</code>],
        ['Result', <Result result={result} />],
        ['Request ID', <code>{requestId}</code>],
      ],
      action: pathWith(`${STATUS_PATH}/probe`, { upstream, model }),
      button: 'Probe again',
      note: 'The log has the attempt by its request ID. It is no usage of an account.',
    });
    this.pages.send(response, page);

    function isWanted(each: Config['models'][number]['routes'][number]): boolean {
      return each.upstream.name === upstream && each.model === model;
    }
  }

  @PostForm('close')
  async close(@CurrentPageRequest() request: PageRequest): Promise<void> {
    const { upstream, model } = namesIn(request.query);
    if (!this.config.upstreams.has(upstream)) throw notThere();
    const target = model === undefined ? `upstream:${upstream}` : `route:${upstream} ${model}`;
    await this.actions.record(request, ['circuit.closed', target], 'A circuit was closed', { upstream, model });
    this.states.close(upstream, model);
    this.pages.redirect(request.response, `${STATUS_PATH}?done=closed`);
  }
}

function namesIn({ upstream, model }: QueryValues) {
  const name = textIn(upstream, MAX_LENGTH);
  if (name === undefined) throw notThere();
  return { upstream: name, model: textIn(model, MAX_LENGTH) };
}

function notThere(): ServiceError {
  return new ServiceError('not_found', 'The configuration has no such route.');
}

function Result({ result }: { readonly result: ProbeResult }) {
  switch (result.type) {
    case 'answered':
      return <Outcome isGood label="Answered" text={`after ${seconds(result.firstTextMs)}`} />;
    case 'failed':
      return <Outcome label="Failed" text={`after ${seconds(result.durationMs)}: ${result.failure}`} />;
    case 'waiting':
      return <Outcome label="No text" text={`in ${seconds(result.durationMs)}`} />;
  }
}
