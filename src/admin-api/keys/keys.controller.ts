import { Body, Get, Param, Patch, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { ApiKeyRotation } from '../../accounts/api-keys/api-key-rotation.js';
import { ApiKeyUpdates } from '../../accounts/api-keys/api-key-updates.js';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import type { ChangeAuthor } from '../../accounts/audit/audit-log.js';
import { Author } from '../../auth/session/change-author.decorator.js';
import { AdminController } from '../shared/admin-controller.decorator.js';
import { OperationRoute } from '../shared/operation.decorator.js';
import { changesIn, KeyChangesBody, RotationBody } from './key-bodies.dto.js';
import { KeyDto, NewKeyDto } from './key.dto.js';
import { WireKeys } from './wire-keys.js';

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
