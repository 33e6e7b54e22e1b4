import { Body, Get, Param, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import type { ChangeAuthor } from '../../accounts/audit/audit-log.js';
import { Author } from '../../auth/session/change-author.decorator.js';
import { ServiceError } from '../../common/service-error.js';
import { accountIdOf } from '../accounts/account-id.js';
import { AdminController } from '../shared/admin-controller.decorator.js';
import { ListRoute } from '../shared/list-operation.decorator.js';
import { OperationRoute } from '../shared/operation.decorator.js';
import { limitIn, pageByPosition, positionIn, type ListPage } from '../shared/paging.js';
import { parametersIn, type QueryValues } from '../shared/query.js';
import { changesIn, NewKeyBody } from './key-bodies.dto.js';
import { KeyPageDto, NewKeyDto, type KeyDto } from './key.dto.js';
import { WireKeys } from './wire-keys.js';

/** The API keys of an account. */
@AdminController('admin/accounts/:account_id/keys')
export class AccountKeysController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly keys: ApiKeysService,
    private readonly wire: WireKeys,
  ) {}

  @Get()
  @ListRoute({
    operationId: 'listKeys',
    summary: 'Lists the API keys of an account, newest first, including revoked keys',
    type: KeyPageDto,
  })
  async list(@Param('account_id') accountId: string, @Query() query: QueryValues): Promise<ListPage<KeyDto>> {
    const { limit, cursor } = parametersIn(query);
    const [position, most] = [positionIn(cursor), limitIn(limit)];
    const { id } = await this.accounts.get({ id: accountIdOf(accountId) });
    const { rows, next } = await this.keys.pageAfter(id, position, most);
    return pageByPosition(await this.wire.all(id, rows), next);
  }

  @Post()
  @OperationRoute({
    operationId: 'createKey',
    summary: 'Creates an API key for an account',
    status: 201,
    type: NewKeyDto,
    errors: ['invalid_request', 'forbidden', 'not_found'],
    idempotent: true,
  })
  async create(
    @Param('account_id') reference: string,
    @Body() body: NewKeyBody,
    @Author() author: ChangeAuthor,
    @Req() request: Request,
  ): Promise<NewKeyDto> {
    const { id: accountId, disabledAt } = await this.accounts.get({ id: accountIdOf(reference) });
    const { limits, expiresAt } = changesIn(body);
    return this.wire.createOnce(request, accountId, async (id) => {
      if (disabledAt !== null) throw accountDisabled();
      const made = { id, name: body.name, limits, expiresAt: expiresAt ?? undefined };
      return (await this.keys.create(accountId, made, author)).key;
    });
  }
}

function accountDisabled(): ServiceError {
  return new ServiceError('invalid_request', 'The account is disabled. Enable it first.');
}
