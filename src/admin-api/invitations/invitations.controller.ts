import { Body, Delete, Get, Inject, Param, Post, Req } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { Request } from 'express';
import type { ChangeAuthor } from '../../accounts/audit/audit-log.js';
import { Invitations } from '../../accounts/links/invitations.service.js';
import type { VerifiedOperatorKey } from '../../accounts/operator-keys/operator-key-verifier.js';
import { CurrentOperator } from '../../auth/operators/current-operator.decorator.js';
import { Author } from '../../auth/session/change-author.decorator.js';
import { ServiceError } from '../../common/service-error.js';
import { CONFIG, type Config } from '../../config/config.js';
import { INVITATION_PATH } from '../../dashboard/paths.js';
import { Pages } from '../../dashboard/pages.js';
import { OnlyIf } from '../../http/routing/only-if.decorator.js';
import { AdminController } from '../shared/admin-controller.decorator.js';
import { OperationRoute } from '../shared/operation.decorator.js';
import {
  CreatedInvitationDto,
  DEFAULT_DAYS,
  InvitationListDto,
  NewInvitationBody,
  wireInvitation,
} from './invitation.dto.js';

/** One-time links with which people create accounts. */
@OnlyIf(({ passwords }) => passwords === 'on')
@AdminController('admin/invitations')
export class InvitationsController {
  constructor(
    private readonly invitations: Invitations,
    private readonly pages: Pages,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  @OperationRoute({
    operationId: 'listInvitations',
    summary: 'Lists the open invitations, at most 1,000',
    type: InvitationListDto,
  })
  async list(): Promise<InvitationListDto> {
    return { data: (await this.invitations.list()).map(wireInvitation) };
  }

  @Post()
  @OperationRoute({
    operationId: 'createInvitation',
    summary: 'Creates a one-time link with which a person creates an account',
    description: 'It replaces an earlier invitation of the same address.',
    status: 201,
    type: CreatedInvitationDto,
    errors: ['invalid_request', 'forbidden'],
  })
  async create(
    @Body() body: NewInvitationBody,
    @CurrentOperator() operator: VerifiedOperatorKey,
    @Author() author: ChangeAuthor,
    @Req() request: Request,
  ): Promise<CreatedInvitationDto> {
    const { email, tier = this.config.defaultTier.name, role = 'member', valid_days: validDays = DEFAULT_DAYS } = body;
    const made = { email, tier, role, validDays, createdBy: operator.id };
    const { invitation, token } = await this.invitations.create(made, author);
    const link = `${this.pages.originOf(request)}${INVITATION_PATH}/${token}`;
    return Object.assign(wireInvitation(invitation), { link });
  }

  @Delete(':invitation_id')
  @OperationRoute({
    operationId: 'revokeInvitation',
    summary: 'Revokes an open invitation',
    status: 204,
    errors: ['forbidden', 'not_found'],
  })
  async revoke(@Param('invitation_id') id: string, @Author() author: ChangeAuthor): Promise<void> {
    const revoked = isUUID(id) ? await this.invitations.revoke(id, author) : undefined;
    if (revoked === undefined) throw new ServiceError('not_found', 'This invitation does not exist.');
  }
}
