import { Body, Delete, Get, Inject, Param, Post, Req } from '@nestjs/common';
import { IsInt, isUUID, Max, Min } from 'class-validator';
import type { Request } from 'express';
import { ACCOUNT_ROLES, type AccountRole } from '../../../accounts/account/account.entity.js';
import type { ChangeAuthor } from '../../../accounts/audit/audit-log.js';
import { Invitations, type Invitation } from '../../../accounts/links/invitations.service.js';
import type { VerifiedOperatorKey } from '../../../accounts/operator-keys/operator-key-verifier.js';
import { CurrentOperator } from '../../../auth/operators/operator-access.js';
import { Author } from '../../../auth/session/request-session.js';
import { ServiceError } from '../../../platform/common/service-error.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../../../platform/http/open-api/api-decorators.js';
import { OnlyIf } from '../../../platform/http/routing/only-if.decorator.js';
import { Pages } from '../../dashboard/pages.js';
import { INVITATION_PATH } from '../../dashboard/paths.js';
import { AdminController, OperationRoute } from './shared/operation.decorator.js';
import { OneOf, Optional, Text } from './shared/body-rules.js';

const MAX_LENGTH = 1_000;
const MAX_DAYS = 30;
const DEFAULT_DAYS = 7;

@ApiSchema({ name: 'NewInvitation' })
class NewInvitationBody {
  @ApiProperty({ format: 'email' })
  @Text(MAX_LENGTH)
  readonly email!: string;

  @ApiPropertyOptional({ description: 'By default the default tier of the configuration.' })
  @Optional()
  @Text(MAX_LENGTH)
  readonly tier?: string;

  @ApiPropertyOptional({ enum: ACCOUNT_ROLES, default: 'member' })
  @Optional()
  @OneOf(ACCOUNT_ROLES)
  readonly role?: AccountRole;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_DAYS, default: DEFAULT_DAYS })
  @Optional()
  @Max(MAX_DAYS, { message: `must be at most ${MAX_DAYS}` })
  @Min(1, { message: 'must be at least 1' })
  @IsInt({ message: 'must be a whole number' })
  readonly valid_days?: number;
}

@ApiSchema({ name: 'Invitation' })
class InvitationDto {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ format: 'email' })
  readonly email!: string;

  @ApiProperty()
  readonly tier!: string;

  @ApiProperty({ enum: ACCOUNT_ROLES })
  readonly role!: AccountRole;

  @ApiProperty({ format: 'date-time' })
  readonly created_at!: string;

  @ApiProperty({ format: 'date-time' })
  readonly expires_at!: string;
}

@ApiSchema({ name: 'CreatedInvitation' })
class CreatedInvitationDto extends InvitationDto {
  @ApiProperty({ format: 'uri', description: 'The link works once. No other response shows it.' })
  readonly link!: string;
}

@ApiSchema({ name: 'InvitationList' })
class InvitationListDto {
  @ApiProperty({ type: [InvitationDto] })
  readonly data!: readonly InvitationDto[];
}

function wireInvitation(invitation: Invitation): InvitationDto {
  const { id, email, tier, role, createdAt, expiresAt } = invitation;
  return { id, email, tier, role, created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() };
}

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
