import { ApiProperty, ApiPropertyOptional } from '../../http/open-api/api-decorators.js';
import type { ErrorCode } from '../../common/service-error.js';

export class ChunkError {
  @ApiProperty({ type: String, example: 'upstream_error' })
  readonly code!: ErrorCode;

  @ApiProperty()
  readonly message!: string;
}

/** The data of one event of the stream. */
export class Chunk {
  @ApiProperty({ description: 'A piece of the text; empty in the last chunk.' })
  readonly content!: string;

  @ApiProperty({ description: '`true` in the last chunk, once the answer is complete, and only then.' })
  readonly done!: boolean;

  @ApiPropertyOptional({ description: 'Why the stream ends before the answer is complete. In an event named `error`.' })
  readonly error?: ChunkError;
}
