import { ApiProperty } from '../../platform/http/open-api/api-decorators.js';

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
