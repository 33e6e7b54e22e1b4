import { utcDay } from '../../plugin-api/core/common.js';
import { ApiProperty } from '../../plugin-api/core/http.js';
import {
  UsageBudget,
  UsageCounts,
  type BudgetState,
  type UsagePeriod,
  type UsageRow,
  wireBudget,
  wireUsage,
} from '../../plugin-api/core/usage.js';

class UsageKey {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty({ description: 'The first characters of the key.' })
  readonly prefix!: string;
}

class UsageOfDay extends UsageCounts {
  @ApiProperty({ format: 'date', description: 'The UTC day on which the streams started.' })
  readonly day!: string;

  @ApiProperty()
  readonly model!: string;

  @ApiProperty({ type: UsageKey, nullable: true, description: '`null` for requests of the web application.' })
  readonly key!: UsageKey | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'USD' })
  readonly currency!: string | null;
}

export class UsageReport {
  @ApiProperty({ format: 'date' })
  readonly from!: string;

  @ApiProperty({ format: 'date', description: 'The last day of the period.' })
  readonly to!: string;

  @ApiProperty({
    type: UsageBudget,
    nullable: true,
    description: 'The budget of the account or of the API key, the one of which less remains. `null` without a budget.',
  })
  readonly budget!: UsageBudget | null;

  @ApiProperty({ type: [UsageOfDay] })
  readonly usage!: UsageOfDay[];
}

/** Returns the {@link UsageReport} as JSON, in pieces. Writing a long report in one go would block the event loop. */
export async function reportJson(
  { from, to }: UsagePeriod,
  pages: AsyncIterable<readonly UsageRow[]>,
  budget?: BudgetState,
): Promise<readonly Buffer[]> {
  const head = {
    from: utcDay(from),
    to: utcDay(to.getTime() - 1),
    budget: budget === undefined ? null : wireBudget(budget),
  };
  const pieces = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"usage":[`)];
  let separator = '';
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    pieces.push(Buffer.from(separator + JSON.stringify(rows.map(entryOf)).slice(1, -1)));
    separator = ',';
  }
  pieces.push(Buffer.from(']}'));
  return pieces;
}

function entryOf(row: UsageRow): UsageReport['usage'][number] {
  return {
    day: row.day,
    model: row.model,
    key: row.keyId === null ? null : { id: row.keyId, prefix: row.keyPrefix ?? '' },
    ...wireUsage(row),
  };
}
