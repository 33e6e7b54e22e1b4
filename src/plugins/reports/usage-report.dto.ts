import { ApiProperty } from '../../plugin-api/core/http.js';
import { UsageBudget, UsageCounts } from '../../plugin-api/core/usage.js';

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
