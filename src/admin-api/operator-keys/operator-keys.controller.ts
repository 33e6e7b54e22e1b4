import { Get, Param, Post, Query } from '@nestjs/common';
import type { ChangeAuthor } from '../../accounts/audit/audit-log.js';
import { OperatorKeys } from '../../accounts/operator-keys/operator-keys.service.js';
import { Author } from '../../auth/session/change-author.decorator.js';
import { AdminController } from '../shared/admin-controller.decorator.js';
import { ListRoute } from '../shared/list-operation.decorator.js';
import { OperationRoute } from '../shared/operation.decorator.js';
import { limitIn, pageByPosition, positionIn, type ListPage } from '../shared/paging.js';
import { parametersIn, type QueryValues } from '../shared/query.js';
import { OperatorKeyPageDto, RevokedOperatorKeyDto, wireOperatorKey, type OperatorKeyDto } from './operator-key.dto.js';

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
    summary: 'Revokes an operator key permanently, also the key that makes the request',
    type: RevokedOperatorKeyDto,
    errors: ['forbidden', 'not_found'],
  })
  async revoke(
    @Param('operator_key_id') keyId: string,
    @Author() author: ChangeAuthor,
  ): Promise<RevokedOperatorKeyDto> {
    const { id, revokedAt } = await this.keys.revoke(keyId, author);
    return { id, revoked_at: revokedAt.toISOString() };
  }
}
