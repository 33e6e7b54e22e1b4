import { isUUID } from 'class-validator';
import {
  ACCOUNT_ROLES,
  type Invitation,
  Invitations,
  OPERATOR_SCOPES,
  OperatorKeys,
  wireOperatorKey,
} from '../../../plugin-api/core/accounts.js';
import { ServiceError } from '../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import { INVITATION_PATH } from '../../../plugin-api/core/auth.js';
import { KEY_TIMES } from './key-operations.js';
import {
  operation,
  withPasswords,
  type ApiInput,
  type OperationInput,
  limitIn,
  pageByPosition,
  parametersIn,
  positionIn,
} from './operation.js';
import * as schema from './schemas.js';

const INVITATION = schema.object('Invitation', {
  id: schema.UUID,
  email: schema.EMAIL,
  tier: schema.TEXT,
  role: { ...schema.TEXT, enum: ACCOUNT_ROLES },
  created_at: schema.TIME,
  expires_at: schema.TIME,
});

function wireInvitation({ id, email, tier, role, createdAt, expiresAt }: Invitation) {
  return { id, email, tier, role, created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() };
}

const listInvitations = operation({
  id: 'listInvitations',
  route: 'GET invitations',
  summary: 'Lists the open invitations, at most 1,000',
  condition: withPasswords,
  answer: schema.object('InvitationList', { data: { type: [INVITATION] } }),
  async run({ get }: ApiInput) {
    return { data: (await get(Invitations).list()).map(wireInvitation) };
  },
});

const DEFAULT_DAYS = 7;
const NewInvitation = schema.body('NewInvitation', {
  email: schema.text(schema.EMAIL),
  tier: schema.optional(schema.text({ description: 'By default the default tier of the configuration.' })),
  role: schema.optional(schema.choice(ACCOUNT_ROLES, { default: 'member' })),
  valid_days: schema.optional(schema.countWithin(1, 30, { default: DEFAULT_DAYS })),
});

const createInvitation = operation({
  id: 'createInvitation',
  route: 'POST invitations',
  summary: 'Creates a one-time link with which a person creates an account',
  description: 'It replaces an earlier invitation of the same address.',
  condition: withPasswords,
  status: 201,
  body: NewInvitation,
  answer: schema.object('CreatedInvitation', { link: schema.LINK }, INVITATION),
  async run({ get, body, operatorId, author, linkTo }: ApiInput<InstanceType<typeof NewInvitation>>) {
    const { defaultTier } = get<Config>(CONFIG);
    const { email, tier = defaultTier.name, role = 'member', valid_days: validDays = DEFAULT_DAYS } = body;
    const newInvitation = { email, tier, role, validDays, createdBy: operatorId };
    const invitation = await get(Invitations).create(newInvitation, author);
    return { ...wireInvitation(invitation), link: linkTo(`${INVITATION_PATH}/${invitation.token}`) };
  },
});

const revokeInvitation = operation({
  id: 'revokeInvitation',
  route: 'DELETE invitations/:invitation_id',
  summary: 'Revokes an open invitation',
  condition: withPasswords,
  async run({ get, id, author }: ApiInput) {
    const revoked = isUUID(id) && (await get(Invitations).revoke(id, author));
    if (!revoked) throw new ServiceError('not_found', 'This invitation does not exist.');
  },
});

/** One-time links with which people create accounts. */
export const INVITATION_OPERATIONS = [listInvitations, createInvitation, revokeInvitation];

const OPERATOR_KEY = schema.object('OperatorKey', {
  id: schema.UUID,
  name: schema.TEXT,
  scope: { ...schema.TEXT, enum: OPERATOR_SCOPES },
  prefix: schema.PREFIX,
  created_by: {
    ...schema.MAKER,
    description:
      'The id of the operator, or of the operator key, that has made the key. `null`: the admin command has.',
  },
  ...KEY_TIMES,
});

const listOperatorKeys = operation({
  id: 'listOperatorKeys',
  route: 'GET operator-keys',
  summary: 'Lists the operator keys, newest first, including revoked keys',
  answer: schema.page('OperatorKeyPage', OPERATOR_KEY),
  filters: {},
  async run({ get, query }: ApiInput) {
    const { limit, cursor } = parametersIn(query);
    const { rows, next } = await get(OperatorKeys).page(positionIn(cursor), limitIn(limit));
    return pageByPosition(rows.map(wireOperatorKey), next);
  },
});

export const revokeOperatorKey = operation({
  id: 'revokeOperatorKey',
  route: 'POST operator-keys/:operator_key_id/revoke',
  summary: 'Revokes an operator key permanently, also the key that makes the request, and ends what the key has made',
  answer: schema.object('RevokedOperatorKey', { id: schema.UUID, revoked_at: schema.TIME }),
  takesCascade: true,
  async run({ get, id, author, cascade }: OperationInput) {
    const { revokedAt } = await get(OperatorKeys).revoke(id, author, cascade);
    return { id, revoked_at: revokedAt.toISOString() };
  },
});

/** The keys of this API. Only the admin command and the page of operators create them. */
export const OPERATOR_KEY_OPERATIONS = [listOperatorKeys, revokeOperatorKey];
