import type { StatusSnapshot, UpstreamStatus } from '../../../observability/status/service-status.js';
import { count } from '../../format/numbers.js';
import { duration } from '../../format/times.js';
import { Section } from '../../parts/blocks.js';
import { Table } from '../../parts/table.js';

/** The upstreams and routes: those that requests cannot use now, and all of them. */
export function RouteSection({ status }: { readonly status: StatusSnapshot }) {
  const { upstreams, upstreamsLeftOut } = status;
  const unavailable = upstreams.filter(({ state }) => state !== 'closed');
  return (
    <Section id="upstreams" title="Upstreams and routes">
      {unavailable.length === 0 ? (
        <p>
          <span class="badge good">Available</span> All upstreams and routes.
        </p>
      ) : (
        <RouteTable caption="Not available now" status={status} rows={unavailable} />
      )}
      <details id="all-routes">
        <summary>All {count(upstreams.length + upstreamsLeftOut)} upstreams and routes</summary>
        <RouteTable caption="All upstreams and routes" status={status} rows={upstreams} />
        {upstreamsLeftOut === 0 ? null : <p class="fine">{count(upstreamsLeftOut)} more are available.</p>}
      </details>
    </Section>
  );
}

interface RouteTableProps {
  readonly caption: string;
  readonly status: StatusSnapshot;
  readonly rows: readonly UpstreamStatus[];
}

function RouteTable({ caption, status: { at, attempts }, rows }: RouteTableProps) {
  const counts = new Map(attempts.map((each) => [each.upstream, each]));
  const ofWhole = ({ name, model }: UpstreamStatus) => (model === undefined ? counts.get(name) : undefined);
  return (
    <Table
      caption={caption}
      rows={rows}
      columns={[
        { title: 'Upstream', cell: ({ name }) => name },
        { title: 'Model', cell: ({ model }) => (model === undefined ? 'all' : <code>{model}</code>) },
        {
          title: 'State',
          cell: (each) => (
            <>
              <span class={`badge ${each.state === 'closed' ? 'good' : 'bad'}`}>{stateLabel(each)}</span>{' '}
              {stateText(each, at)}
            </>
          ),
        },
        { title: 'Attempts', cell: (each) => shown(ofWhole(each)?.attempts), isNumber: true },
        {
          title: 'Errors since the start',
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

function stateLabel({ state, isCooldown }: UpstreamStatus): string {
  if (state === 'closed') return 'Available';
  if (state === 'half_open') return 'Circuit half-open';
  return isCooldown ? 'Cooldown' : 'Circuit open';
}

/**
 * Says until when requests may not try an upstream or a route, since when, and why.
 *
 * @param at the time of the snapshot.
 */
export function stateText({ state, waitMs, isCooldown, openForMs, failure }: UpstreamStatus, at: number): string {
  if (state === 'closed') return '';
  const since = openForMs === undefined ? '' : `since ${clock(at - openForMs)} (${duration(openForMs / 1000)})`;
  const until = `until ${clock(at + waitMs)}`;
  const why = failure === undefined ? 'as another replica was told' : `after ${failure}`;
  if (state === 'half_open') return `${since}: one request at a time may try, ${why}`;
  return isCooldown ? `${until}, as the provider asked ${since}, ${why}` : `${since}, ${until}, ${why}`;
}

/** The time of a moment in UTC, with seconds. */
function clock(moment: number): string {
  return `${new Date(moment).toISOString().slice(11, 19)} UTC`;
}
