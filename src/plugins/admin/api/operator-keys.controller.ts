import { Get, Param, Post, Query } from '@nestjs/common';
import type { ChangeAuthor } from '../../../accounts/audit/audit-log.js';
import { OPERATOR_SCOPES, type OperatorScope } from '../../../accounts/operator-keys/operator-key-verifier.js';
import { wireOperatorKey, OperatorKeys } from '../../../accounts/operator-keys/operator-keys.service.js';
import { Author } from '../../../auth/session/request-session.js';
import { ApiProperty, ApiSchema } from '../../../platform/http/open-api/api-decorators.js';
import { AdminController, ListRoute, OperationRoute } from './shared/operation.decorator.js';
import { madeInQuery, MadeParameters } from './shared/made.js';
import {
  limitIn,
  pageByPosition,
  PageDto,
  parametersIn,
  positionIn,
  type ListPage,
  type QueryValues,
} from './shared/list-query.js';

const NULLABLE_TIME = { type: 'string', format: 'date-time', nullable: true } as const;

@ApiSchema({ name: 'OperatorKey' })
class OperatorKeyDto {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;

  @ApiProperty()
  readonly name!: string;

  @ApiProperty({ enum: OPERATOR_SCOPES })
  readonly scope!: OperatorScope;

  @ApiProperty({ description: 'The first characters of the key.' })
  readonly prefix!: string;

  @ApiProperty({
    format: 'uuid',
    nullable: true,
    description:
      'The id of the operator, or of the operator key, that has made the key. `null`: the admin command has.',
  })
  readonly created_by!: string | null;

  @ApiProperty({ format: 'date-time' })
  readonly created_at!: string;

  @ApiProperty({ ...NULLABLE_TIME, description: '`null`: the key never expires.' })
  readonly expires_at!: string | null;

  @ApiProperty({ ...NULLABLE_TIME, description: 'Up to a minute late.' })
  readonly last_used_at!: string | null;

  @ApiProperty(NULLABLE_TIME)
  readonly revoked_at!: string | null;
}

@ApiSchema({ name: 'RevokedOperatorKey' })
class RevokedOperatorKeyDto {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ format: 'date-time' })
  readonly revoked_at!: string;
}

@ApiSchema({ name: 'OperatorKeyPage' })
class OperatorKeyPageDto extends PageDto {
  @ApiProperty({ type: [OperatorKeyDto] })
  readonly data!: readonly OperatorKeyDto[];
}

/** The keys of this API. Only the admin command and the page of operators create them. */
@AdminController('admin/operator-keys')
export class OperatorKeysController {
  constructor(private readonly keys: OperatorKeys) {}

  @Get()
  @ListRoute({
    operationId: 'listOperatorKeys',
    summary: 'Lists the operator keys, newest first, including revoked keys',
    type: OperatorKeyPageDto,
  })
  async list(@Query() query: QueryValues): Promise<ListPage<OperatorKeyDto>> {
    const { limit, cursor } = parametersIn(query);
    const { rows, next } = await this.keys.page(positionIn(cursor), limitIn(limit));
    return pageByPosition(rows.map(wireOperatorKey), next);
  }

  @Post(':operator_key_id/revoke')
  @OperationRoute({
    operationId: 'revokeOperatorKey',
    summary: 'Revokes an operator key permanently, also the key that makes the request, and ends what the key has made',
    type: RevokedOperatorKeyDto,
    errors: ['invalid_request', 'forbidden', 'not_found'],
  })
  @MadeParameters()
  async revoke(
    @Param('operator_key_id') keyId: string,
    @Query() query: QueryValues,
    @Author() author: ChangeAuthor,
  ): Promise<RevokedOperatorKeyDto> {
    const { id, revokedAt } = await this.keys.revoke(keyId, author, madeInQuery(query));
    return { id, revoked_at: revokedAt.toISOString() };
  }
}
