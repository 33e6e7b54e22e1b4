import { ApiProperty, ApiPropertyOptional } from '../../platform/http/open-api/api-decorators.js';
import type { ErrorCode } from '../../platform/common/service-error.js';

export class ChunkError {
  @ApiProperty({ type: String, example: 'upstream_error' })
  readonly code!: ErrorCode;

  @ApiProperty()
  readonly message!: string;
}

/** The data of one event of the stream. */
export class Chunk {
  @ApiProperty({ description: 'A piece of the text. Empty in the last chunk.' })
  readonly content!: string;

  @ApiProperty({ description: '`true` only in the last chunk of a complete answer.' })
  readonly done!: boolean;

  @ApiPropertyOptional({ description: 'Why the stream failed. Only in an event named `error`.' })
  readonly error?: ChunkError;
}

/**
 * The schema of an event stream. OpenAPI 3.1 has no words for a sequence of events: the body is a text, and the data of each
 * event is a `Chunk`.
 */
export const EVENT_STREAM = {
  type: 'string',
  description: 'Server-sent events. The data of each event is a `Chunk` as JSON.',
} as const;
