import { ApiProperty } from '../../http/open-api/api-decorators.js';

/** The members that every page of a list has in addition to `data`. */
export class PageDto {
  @ApiProperty({ type: 'string', nullable: true, description: 'The `cursor` of the next page. `null`: the last page.' })
  readonly next_cursor!: string | null;
}
