import { ApiProperty, ApiPropertyOptional } from '../../plugin-api/core/http.js';
import { STREAM_OUTCOMES, type StreamOutcome } from '../../plugin-api/core/usage.js';

const COUNT = { type: 'integer', nullable: true } as const;
const TIME = { type: 'string', format: 'date-time', nullable: true } as const;
const TOKEN_SOURCES = ['reported', 'estimated', 'unknown'] as const;

class ReceiptTokens {
  @ApiProperty({ ...COUNT, description: 'All input tokens, with the tokens from the cache of the provider.' })
  readonly input!: number | null;

  @ApiProperty({ ...COUNT, description: 'The part of `input` that the provider has read from its cache.' })
  readonly cached_input!: number | null;

  @ApiProperty({ ...COUNT, description: 'The part of `input` that the provider has written to its cache.' })
  readonly cache_write_input!: number | null;

  @ApiProperty({ ...COUNT, description: 'All output tokens, with the reasoning.' })
  readonly output!: number | null;

  @ApiProperty({ ...COUNT, description: 'The part of `output` that is reasoning.' })
  readonly reasoning_output!: number | null;

  @ApiProperty({
    enum: TOKEN_SOURCES,
    description:
      '`reported`: the provider has reported the known counts. `estimated`: `input` or `output` is an estimate. `unknown`: ' +
      'no count is known.',
  })
  readonly source!: (typeof TOKEN_SOURCES)[number];
}

class ReceiptAttempt {
  @ApiProperty({ description: 'The name of the upstream.' })
  readonly upstream!: string;

  @ApiPropertyOptional({ description: 'The error code, if the attempt failed.' })
  readonly code?: string;

  @ApiProperty({ ...COUNT, description: 'The duration of the attempt in milliseconds.' })
  readonly duration_ms!: number | null;
}

class TotalTokens {
  @ApiProperty({ ...COUNT, description: '`null` if a completion has an unknown count.' })
  readonly input!: number | null;

  @ApiProperty({ ...COUNT, description: '`null` if a completion has an unknown count.' })
  readonly output!: number | null;
}

class ReceiptTotal {
  @ApiProperty({ type: 'integer', description: 'The completions with the request id that are over.' })
  readonly completions!: number;

  @ApiProperty({ type: TotalTokens })
  readonly tokens!: TotalTokens;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: '`null` if a cost is not known, or for several currencies.',
  })
  readonly cost!: number | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'USD' })
  readonly currency!: string | null;
}

/** What one stream has used and cost. A value that is not known is `null`. */
export class StreamReceipt {
  @ApiProperty({ description: 'The `X-Request-Id` of the response.' })
  readonly request_id!: string;

  @ApiProperty()
  readonly model!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    example: 'chat-completions',
    description:
      'The compatible interface, or the surface of a plugin, that the client has used. `null` for other endpoints.',
  })
  readonly surface!: string | null;

  @ApiProperty({ enum: STREAM_OUTCOMES, description: 'How the stream ended.' })
  readonly outcome!: StreamOutcome;

  @ApiProperty({ type: 'string', nullable: true, description: 'Why the model stopped, such as `stop` or `length`.' })
  readonly finish_reason!: string | null;

  @ApiProperty({ format: 'date-time' })
  readonly started_at!: string;

  @ApiProperty({ ...TIME, description: '`null` if there was no text.' })
  readonly first_text_at!: string | null;

  @ApiProperty({ ...TIME, description: '`null` if the process was killed.' })
  readonly ended_at!: string | null;

  @ApiProperty({ type: ReceiptTokens })
  readonly tokens!: ReceiptTokens;

  @ApiProperty({ ...COUNT, description: 'The number of complete tool calls of the answer.' })
  readonly tool_calls!: number | null;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'In units of `currency`. `null` if a count or a price is not known.',
  })
  readonly cost!: number | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'USD', description: '`null` if the model has no price.' })
  readonly currency!: string | null;

  @ApiProperty({ type: [ReceiptAttempt], description: 'The asked upstreams, in order.' })
  readonly attempts!: readonly ReceiptAttempt[];

  @ApiPropertyOptional({
    type: ReceiptTotal,
    description:
      'The sum of 2 to 100 completions with this request id. The other members are about the latest of them.',
  })
  readonly total?: ReceiptTotal;
}
