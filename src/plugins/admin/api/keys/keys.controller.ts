import { Body, Get, Param, Patch, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AccountsService } from '../../../../accounts/accounts/accounts.service.js';
import { ApiKeyRotation } from '../../../../accounts/api-keys/api-key-rotation.js';
import { ApiKeyUpdates } from '../../../../accounts/api-keys/api-key-updates.js';
import { ApiKeysService } from '../../../../accounts/api-keys/api-keys.service.js';
import type { ChangeAuthor } from '../../../../accounts/audit/audit-log.js';
import { Author } from '../../../../auth/session/request-session.js';
import { ServiceError } from '../../../../platform/common/service-error.js';
import { accountIdOf } from '../../../../accounts/account/account.entity.js';
import { AdminController, ListRoute, OperationRoute } from '../shared/operation.decorator.js';
import {
  limitIn,
  pageByPosition,
  parametersIn,
  positionIn,
  type ListPage,
  type QueryValues,
} from '../shared/list-query.js';
import { changesIn, KeyChangesBody, NewKeyBody, RotationBody } from './key-bodies.dto.js';
import { KeyDto, KeyPageDto, NewKeyDto, WireKeys } from './wire-keys.js';

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

/** Single API keys of any account. */
@AdminController('admin/keys/:key_id')
export class KeysController {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly updates: ApiKeyUpdates,
    private readonly rotation: ApiKeyRotation,
    private readonly wire: WireKeys,
  ) {}

  @Get()
  @OperationRoute({
    operationId: 'getKey',
    summary: 'Returns an API key, without its secret',
    type: KeyDto,
    errors: ['not_found'],
  })
  async get(@Param('key_id') keyId: string): Promise<KeyDto> {
    const accountId = await this.keys.ownerOf(keyId);
    return this.wire.one(accountId, await this.keys.find(keyId, accountId));
  }

  @Patch()
  @OperationRoute({
    operationId: 'updateKey',
    summary: 'Changes the name, the limits and the expiry date of an active API key',
    description:
      'A missing member stays as it is. `null` removes a limit. Every replica applies the change within a second.',
    type: KeyDto,
    errors: ['invalid_request', 'forbidden', 'not_found'],
  })
  async update(
    @Param('key_id') keyId: string,
    @Body() body: KeyChangesBody,
    @Author() author: ChangeAuthor,
  ): Promise<KeyDto> {
    const accountId = await this.keys.ownerOf(keyId);
    return this.wire.one(accountId, await this.updates.update(keyId, changesIn(body), accountId, author));
  }

  @Post('rotate')
  @OperationRoute({
    operationId: 'rotateKey',
    summary: 'Replaces an API key by a new key with the same name and limits',
    status: 201,
    type: NewKeyDto,
    errors: ['invalid_request', 'forbidden', 'not_found'],
    idempotent: true,
  })
  async rotate(
    @Param('key_id') keyId: string,
    @Body() { overlap_seconds: overlapSeconds = 0, expires_at: expiresAt }: RotationBody,
    @Author() author: ChangeAuthor,
    @Req() request: Request,
  ): Promise<NewKeyDto> {
    const accountId = await this.keys.ownerOf(keyId);
    const ends = {
      overlapMs: overlapSeconds * 1_000,
      expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt),
    };
    return this.wire.createOnce(request, accountId, async (id) => {
      const { created } = await this.rotation.rotate(keyId, accountId, { ...ends, id }, author);
      return created.key;
    });
  }

  @Post('revoke')
  @OperationRoute({
    operationId: 'revokeKey',
    summary: 'Revokes an API key permanently',
    description: 'Every replica refuses the key within a second. To revoke a revoked key again changes nothing.',
    type: KeyDto,
    errors: ['forbidden', 'not_found'],
  })
  async revoke(@Param('key_id') keyId: string, @Author() author: ChangeAuthor): Promise<KeyDto> {
    const accountId = await this.keys.ownerOf(keyId);
    await this.keys.revoke(keyId, accountId, author);
    return this.wire.one(accountId, await this.keys.find(keyId, accountId));
  }
}
