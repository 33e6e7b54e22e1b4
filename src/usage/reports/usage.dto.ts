import { ApiProperty } from '@nestjs/swagger';

class UsageKey {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty({ description: 'The first characters of the key.' })
  readonly prefix!: string;
}

class UsageCounts {
  @ApiProperty({ type: 'integer', description: 'Admitted streams.' })
  readonly requests!: number;

  @ApiProperty({ type: 'integer', description: 'Those whose answer was complete.' })
  readonly completed!: number;

  @ApiProperty({ type: 'integer', description: 'Those that failed. Neither: the client left, or the key was revoked.' })
  readonly errors!: number;

  @ApiProperty({ type: 'integer', description: 'Of the requests of which they are known.' })
  readonly prompt_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Of the requests of which they are known.' })
  readonly completion_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Requests of which nobody knows all tokens.' })
  readonly tokens_unknown!: number;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'In units of `currency`; `null` when no request had a price and known tokens.',
  })
  readonly cost!: number | null;
}

class UsageOfDay extends UsageCounts {
  @ApiProperty({ format: 'date', description: 'In UTC, by the beginning of each stream.' })
  readonly day!: string;

  @ApiProperty()
  readonly model!: string;

  @ApiProperty({ type: UsageKey, nullable: true, description: '`null`: by a session.' })
  readonly key!: UsageKey | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'USD' })
  readonly currency!: string | null;
}

export class UsageReport {
  @ApiProperty({ format: 'date' })
  readonly from!: string;

  @ApiProperty({ format: 'date', description: 'The last day of the period.' })
  readonly to!: string;

  @ApiProperty({ type: [UsageOfDay] })
  readonly usage!: UsageOfDay[];
}
