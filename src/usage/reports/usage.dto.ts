import { ApiProperty } from '../../platform/http/open-api/api-decorators.js';

class UsageKey {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty({ description: 'The first characters of the key.' })
  readonly prefix!: string;
}

export class UsageCounts {
  @ApiProperty({ type: 'integer', description: 'The number of admitted streams.' })
  readonly requests!: number;

  @ApiProperty({ type: 'integer', description: 'Requests with a complete answer.' })
  readonly completed!: number;

  @ApiProperty({
    type: 'integer',
    description:
      'Failed requests. If the client left or the key was revoked, the request is neither complete nor failed.',
  })
  readonly errors!: number;

  @ApiProperty({ type: 'integer', description: 'Input tokens, without requests whose count is unknown.' })
  readonly prompt_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Output tokens, without requests whose count is unknown.' })
  readonly completion_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Requests with an unknown count of input or output tokens.' })
  readonly tokens_unknown!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Requests that `cost` does not include: a count or a price is unknown.',
  })
  readonly cost_unknown!: number;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'In units of `currency`. `null` if no request had both a price and known token counts.',
  })
  readonly cost!: number | null;
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

export class UsageBudget {
  @ApiProperty({ description: 'The most that may be spent in one period, in units of `currency`.' })
  readonly amount!: number;

  @ApiProperty({ description: 'The cost of the requests of this period that are over.' })
  readonly spent!: number;

  @ApiProperty({
    description: 'The most that the running requests can cost, and money for the next second of a busy caller.',
  })
  readonly reserved!: number;

  @ApiProperty({ example: 'USD' })
  readonly currency!: string;

  @ApiProperty({ enum: ['day', 'month'] })
  readonly per!: 'day' | 'month';

  @ApiProperty({ format: 'date-time', description: 'When the next period begins.' })
  readonly resets_at!: string;
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
