import type { ReplicaStatus } from '../../../observability/status/replica-statuses.js';
import type { StatusSnapshot } from '../../../observability/status/service-status.js';
import { count } from '../../format/numbers.js';
import { Moment } from '../../format/times.js';
import { Facts, type Fact } from '../../parts/facts.js';
import { Notice } from '../../parts/notice.js';
import { WEBHOOKS_PATH } from '../webhooks/webhooks-path.js';
import { CountSection } from './count-section.js';
import { duration } from './duration.js';
import { MinuteCharts } from './minute-charts.js';
import { ReplicaTable, StateBadge } from './replica-table.js';
import { RouteSection } from './route-section.js';

interface StatusViewProps {
  /** All known replicas, with the one that answers this page. */
  readonly replicas: readonly ReplicaStatus[];
  /** The replica whose state the page shows. */
  readonly shown: ReplicaStatus;
  /** Whether there can be other replicas, which Redis does not tell now. */
  readonly areOthersUnknown: boolean;
  /** Whether the replica that was asked for is gone. */
  readonly isGone: boolean;
  /** The address of the operator, as `TRUST_PROXY` makes the service see it. */
  readonly address: string;
  readonly now: number;
}

/** The page of operators with the state of the service. The script replaces the content by itself. */
export function StatusView({ replicas, shown, areOthersUnknown, isGone, address, now }: StatusViewProps) {
  const status = shown.snapshot;
  return (
    <div class="usage" id="status">
      <h1>Status</h1>
      <p class="fine">
        At {new Date(now).toISOString().slice(11, 19)} UTC.{' '}
        <span class="needs-script">The page updates every 10 seconds.</span>
        <span class="without-script">Reload the page to update it.</span> See also the events that were sent to{' '}
        <a href={WEBHOOKS_PATH}>webhooks</a>.
      </p>
      <Notice>{areOthersUnknown ? 'Redis does not answer, so other replicas are missing here.' : undefined}</Notice>
      <Notice>{isGone ? 'This replica is gone. The page shows the replica that answers it.' : undefined}</Notice>
      <MinuteCharts snapshots={replicas.map(({ snapshot }) => snapshot)} now={now} />
      {replicas.length === 1 ? null : (
        <section aria-labelledby="replicas">
          <h2 id="replicas">Replicas</h2>
          <ReplicaTable replicas={replicas} shownId={shown.id} />
        </section>
      )}
      <section aria-labelledby="process">
        <h2 id="process">{status.processName}</h2>
        <Facts facts={[...processFacts(status), ['Your address as seen by the service', address]]} />
      </section>
      <RouteSection status={status} />
      <CountSection id="refusals" title="Refused by a limit" columns={['Limit', 'Tier']} counts={status.refusals} />
      <CountSection id="shed" title="Refused to protect other callers" columns={['Reason']} counts={status.shed} />
      <CountSection id="errors" title="Errors" columns={['Code']} counts={status.errors} />
    </div>
  );
}

function processFacts(status: StatusSnapshot): Fact[] {
  return [
    ['State', <StateBadge status={status} />],
    ['Version', status.version],
    ['Running for', duration(status.uptimeSeconds)],
    ['Open streams', count(status.openStreams)],
    ['Stream slots in use', count(status.slotsInUse)],
    ['Client connections', count(status.connections)],
    ['Database', <Availability isUp={status.isDatabaseUp} />],
    ['Redis', status.isRedisUp === undefined ? 'Not configured' : <Availability isUp={status.isRedisUp} />],
    ...(status.replicas === undefined ? [] : [['Replicas', count(status.replicas)] as const]),
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
      <Moment at={new Date(at)} withSeconds withZone />
      {problem === undefined ? '' : `: ${problem} The previous configuration stays in use.`}
      {succeeded + failed === 0 ? '' : ` (changed ${times(succeeded)}, refused ${times(failed)} since the start)`}
    </>
  );
}

const times = (number: number): string => (number === 1 ? 'once' : `${count(number)} times`);
