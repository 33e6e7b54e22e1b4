import type { CountOf } from '../../../observability/status/service-status.js';
import { count } from '../../format/numbers.js';
import { Table } from '../../parts/table.js';

interface CountSectionProps {
  readonly id: string;
  readonly title: string;
  /** The parts of each name are separated by a space. */
  readonly columns: readonly string[];
  readonly counts: readonly CountOf[];
}

/** A table of counts since the start of the process. */
export function CountSection({ id, title, columns, counts }: CountSectionProps) {
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
