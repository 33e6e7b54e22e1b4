import type { ReplicaStatus } from '../../../observability/status/replica-statuses.js';
import type { StatusSnapshot } from '../../../observability/status/service-status.js';
import { count } from '../../format/numbers.js';
import { duration } from '../../format/times.js';
import { pathWith } from '../../parts/query.js';
import { Table } from '../../parts/table.js';
import { STATUS_PATH } from '../../paths.js';

interface ReplicaTableProps {
  readonly replicas: readonly ReplicaStatus[];
  /** The id of the replica whose state the page shows. */
  readonly shownId: string;
}

/** The replicas with their versions and their load. Each leads to its state. */
export function ReplicaTable({ replicas, shownId }: ReplicaTableProps) {
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
export function StateBadge({ status }: { readonly status: StatusSnapshot }) {
  const { isDraining, isDatabaseUp, isRedisUp } = status;
  if (isDraining) return <span class="badge">Stopping</span>;
  if (!isDatabaseUp) return <span class="badge bad">Without database</span>;
  if (isRedisUp === false) return <span class="badge bad">Without Redis</span>;
  return <span class="badge good">Serving</span>;
}
