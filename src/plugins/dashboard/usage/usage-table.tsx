import type { ComponentChildren } from 'preact';
import { count } from '../format/numbers.js';
import { cost, tokens } from './sum-texts.js';
import { Table } from '../parts/table.js';
import { Gauge } from './budget-section.js';
import type { UsageSum } from './usage-sum.js';

export interface UsageLine {
  readonly name: ComponentChildren;
  readonly sum: UsageSum;
}

interface UsageTableProps {
  readonly caption: string;
  /** The heading of the first column, such as "Model". */
  readonly heading: string;
  readonly lines: readonly UsageLine[];
  readonly total: UsageSum;
  readonly withCost: boolean;
  /** Whether each line shows a bar for its share of all requests. */
  readonly withShares?: boolean;
}

/** A table with sums of requests, tokens and costs. */
export function UsageTable({ caption, heading, lines, total, withCost, withShares = false }: UsageTableProps) {
  const totals = { name: 'Total', sum: total };
  const nameOf = (line: UsageLine) => (
    <>
      {line.name}
      {withShares && line !== totals ? <Gauge share={line.sum.requests / Math.max(1, total.requests)} /> : null}
    </>
  );
  const errorsOf = ({ sum: { errors } }: UsageLine) => (errors > 0 ? <span class="bad">{count(errors)}</span> : '0');
  return (
    <Table
      caption={caption}
      showsCaption
      rows={lines}
      total={totals}
      columns={[
        { title: heading, cell: nameOf },
        { title: 'Requests', isNumber: true, cell: ({ sum }) => count(sum.requests) },
        { title: 'Errors', isNumber: true, cell: errorsOf },
        { title: 'Input tokens', isNumber: true, cell: ({ sum }) => tokens(sum.inputTokens, sum) },
        { title: 'Output tokens', isNumber: true, cell: ({ sum }) => tokens(sum.outputTokens, sum) },
        withCost && { title: 'Cost', isNumber: true, cell: ({ sum }) => cost(sum) },
      ]}
    />
  );
}
