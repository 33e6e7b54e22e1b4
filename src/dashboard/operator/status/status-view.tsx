import type { CountOf, StatusSnapshot, UpstreamStatus } from '../../../observability/status/service-status.js';
import { count } from '../../format/numbers.js';
import { Facts, type Fact } from '../../parts/facts.js';
import { Table } from '../../parts/table.js';

interface StatusViewProps {
  readonly status: StatusSnapshot;
  /** The address of the operator, as `TRUST_PROXY` makes the service see it. */
  readonly address: string;
  readonly now: Date;
}

/** The page of operators with the state of this process. The script replaces the content by itself. */
export function StatusView({ status, address, now }: StatusViewProps) {
  return (
    <div class="usage" id="status">
      <h1>Status</h1>
      <p class="fine">
        Of {status.processName} at {now.toISOString().slice(11, 19)} UTC. The page updates every 10 seconds. Counts are
        since the start of the process.
        {status.replicas === undefined ? '' : ' The other replicas have a status of their own.'}
      </p>
      <Facts facts={processFacts(status, address)} />
      <section aria-labelledby="upstreams">
        <h2 id="upstreams">Upstreams and routes</h2>
        <UpstreamTable status={status} />
      </section>
      <CountSection id="refusals" title="Refused by a limit" columns={['Limit', 'Tier']} counts={status.refusals} />
      <CountSection id="shed" title="Refused to protect other callers" columns={['Reason']} counts={status.shed} />
      <CountSection id="errors" title="Errors" columns={['Code']} counts={status.errors} />
    </div>
  );
}

function processFacts(status: StatusSnapshot, address: string): Fact[] {
  const { succeeded, failed } = status.configReloads;
  return [
    ['Version', status.version],
    ['Running for', duration(status.uptimeSeconds)],
    ['State', status.isDraining ? 'Stopping: new streams are refused' : 'Serving'],
    ['Open streams', count(status.openStreams)],
    ['Stream slots in use', count(status.slotsInUse)],
    ['Client connections', count(status.connections)],
    ['Database', <Availability isUp={status.isDatabaseUp} />],
    ['Redis', status.isRedisUp === undefined ? 'Not configured' : <Availability isUp={status.isRedisUp} />],
    ...(status.replicas === undefined ? [] : [['Replicas', count(status.replicas)] as const]),
    ['Configuration', `${status.configHash}, reloaded ${times(succeeded)}, refused ${times(failed)}`],
    ['Your address as seen by the service', address],
  ];
}

function Availability({ isUp }: { readonly isUp: boolean }) {
  return <span class={isUp ? 'badge good' : 'badge bad'}>{isUp ? 'Available' : 'Unavailable'}</span>;
}

function UpstreamTable({ status: { upstreams, attempts } }: Pick<StatusViewProps, 'status'>) {
  const counts = new Map(attempts.map((each) => [each.upstream, each]));
  const ofWhole = ({ name, model }: UpstreamStatus) => (model === undefined ? counts.get(name) : undefined);
  return (
    <Table
      caption="Upstreams and routes"
      rows={upstreams}
      columns={[
        { title: 'Upstream', cell: ({ name }) => name },
        { title: 'Model', cell: ({ model }) => model ?? 'all' },
        {
          title: 'State',
          cell: (each) => <span class={each.state === 'closed' ? 'good' : 'bad'}>{stateText(each)}</span>,
        },
        { title: 'Attempts', cell: (each) => shown(ofWhole(each)?.attempts), isNumber: true },
        {
          title: 'Errors',
          cell: (each) =>
            ofWhole(each)
              ?.errors.map(([code, n]) => `${code} ${count(n)}`)
              .join(', ') ?? '',
        },
      ]}
    />
  );
}

const shown = (number: number | undefined): string => (number === undefined ? '' : count(number));

/** Says whether requests may try an upstream or a route, and why not. */
export function stateText({ state, waitMs, isCooldown }: UpstreamStatus): string {
  if (state === 'closed') return 'Available';
  if (state === 'half_open') return 'Circuit half-open: one request at a time may try';
  const seconds = Math.ceil(waitMs / 1000);
  return isCooldown
    ? `Cooldown for ${seconds} s, as the provider asked`
    : `Circuit open for ${seconds} s after failures`;
}

interface CountSectionProps {
  readonly id: string;
  readonly title: string;
  /** The parts of each name are separated by a space. */
  readonly columns: readonly string[];
  readonly counts: readonly CountOf[];
}

function CountSection({ id, title, columns, counts }: CountSectionProps) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {counts.length === 0 ? (
        <p class="empty">None since the start.</p>
      ) : (
        <Table
          caption={title}
          rows={counts}
          columns={[
            ...columns.map((column, index) => ({
              title: column,
              cell: ([name]: CountOf) => (columns.length === 1 ? name : (name.split(' ')[index] ?? '')),
            })),
            { title: 'Count', cell: ([, number]: CountOf) => count(number), isNumber: true },
          ]}
        />
      )}
    </section>
  );
}

const times = (number: number): string => (number === 1 ? 'once' : `${count(number)} times`);

function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${seconds} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 1) return `${minutes} min`;
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}
