import { ApiProperty } from '../http/open-api/api-decorators.js';

export class ModelEntry {
  @ApiProperty({
    description: 'The value of `model` in a chat request: `<vendor>/<model_name>`.',
    example: 'builtin/eliza',
  })
  readonly id!: string;

  @ApiProperty({ description: 'Display name.' })
  readonly name!: string;

  @ApiProperty({ description: 'Display name of the company that offers the model.' })
  readonly provider!: string;

  @ApiProperty({ description: 'Context length in tokens.', type: 'integer', example: 8192 })
  readonly context_length!: number;
}

export class ModelList {
  @ApiProperty({ type: [ModelEntry] })
  readonly models!: ModelEntry[];
}
