import {
  AccountsService,
  type ApiKeyChanges,
  ApiKeysService,
  type ListedApiKey,
  wireApiKey,
} from '../../../plugin-api/core/accounts.js';
import { MICROS } from '../../../plugin-api/core/config.js';
import { ServiceError } from '../../../plugin-api/core/common.js';
import { ListedBudgets, UsageBudget, wireBudget } from '../../../plugin-api/core/usage.js';
import {
  operation,
  type ApiInput,
  type Creation,
  limitIn,
  pageByPosition,
  parametersIn,
  positionIn,
} from './operation.js';
import * as schema from './schemas.js';

const TEXTS = { type: 'array', items: schema.TEXT } as const;
const LIMIT = schema.nullable({ type: 'integer', description: '`null`: no limit of its own.' });

/** The times of every kind of key. */
export const KEY_TIMES = {
  created_at: schema.TIME,
  expires_at: schema.nullable({ ...schema.TIME, description: '`null`: the key never expires.' }),
  last_used_at: schema.nullable({ ...schema.TIME, description: 'Up to a minute late.' }),
  revoked_at: schema.nullable(schema.TIME),
};

const KEY = schema.object('AdminKey', {
  id: schema.UUID,
  account_id: schema.UUID,
  name: schema.TEXT,
  prefix: schema.PREFIX,
  ...KEY_TIMES,
  models: schema.nullable({ ...TEXTS, description: 'Model ids and `<vendor>/*`. `null`: all models.' }),
  requests_per_minute: LIMIT,
  tokens_per_day: LIMIT,
  addresses: schema.nullable({ ...TEXTS, description: 'IP addresses and CIDR ranges. `null`: all addresses.' }),
  budget: schema.nullable({
    type: UsageBudget,
    description: '`null`: no budget of its own. Rotated keys share a budget.',
  }),
});

const CREATED_KEY = schema.object(
  'CreatedAdminKey',
  {
    key: schema.nullable({
      ...schema.TEXT,
      description: 'The secret. No other response shows it. `null` if the request repeats an earlier one.',
    }),
  },
  KEY,
);

/** Returns keys of an account as the API shows them, with what is left of their budgets. */
async function wireKeys({ get }: ApiInput, accountId: string, keys: readonly ListedApiKey[]) {
  const budgets = await get(ListedBudgets).ofKeys(accountId, keys);
  return keys.map((key) => {
    const budget = budgets.get(key.id);
    return {
      id: key.id,
      account_id: accountId,
      ...wireApiKey(key),
      budget: budget === undefined ? null : wireBudget(budget),
    };
  });
}

async function wireKey(input: ApiInput, accountId: string, key: ListedApiKey, more: object = {}) {
  const [wired] = await wireKeys(input, accountId, [key]);
  return { ...wired, ...more };
}

/**
 * Returns the creation of a key. A repeated request gets the key without its secret.
 *
 * @param create creates the key with this id, and returns its secret.
 */
function keyCreation(input: ApiInput, accountId: string, create: (id: string) => Promise<string>) {
  const keys = input.get(ApiKeysService);
  const creation: Creation<object> = {
    find: async (id) => {
      const known = await keys.find(id, accountId).catch(undefinedIfNotFound);
      return known && wireKey(input, accountId, known, { key: null });
    },
    create: async (id) => {
      const key = await create(id);
      return wireKey(input, accountId, await keys.find(id, accountId), { key });
    },
  };
  return creation;
}

function undefinedIfNotFound(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === 'not_found') return undefined;
  throw error;
}

const listKeys = operation({
  id: 'listKeys',
  route: 'GET accounts/:account_id/keys',
  summary: 'Lists the API keys of an account, newest first, including revoked keys',
  answer: schema.page('AdminKeyPage', KEY),
  filters: {},
  async run(input: ApiInput) {
    const { limit, cursor } = parametersIn(input.query);
    const [position, most] = [positionIn(cursor), limitIn(limit)];
    const { id } = await input.get(AccountsService).get(input.account);
    const { rows, next } = await input.get(ApiKeysService).pageAfter(id, position, most);
    return pageByPosition(await wireKeys(input, id, rows), next);
  },
});

const KeyLimits = schema.body('KeyLimits', {
  expires_at: schema.optionalOrNull(schema.time({ description: '`null`: no expiry.' })),
  models: schema.optionalOrNull(schema.texts({ description: 'Model ids and `<vendor>/*`. `null`: all models.' })),
  requests_per_minute: schema.optionalOrNull(schema.count({ minimum: 1 })),
  tokens_per_day: schema.optionalOrNull(schema.count({ minimum: 1 })),
  addresses: schema.optionalOrNull(schema.texts({ description: 'Addresses and CIDR ranges. `null`: all.' })),
  budget: schema.optionalOrNull(
    schema.nested(
      schema.body('AdminKeyBudgetChange', {
        amount: schema.amount({ description: 'In units of the configured currency.' }),
        per: schema.optional(schema.choice(['day', 'month'], { default: 'month' })),
      }),
    ),
  ),
});
const NewKey = schema.body('NewAdminKey', { name: schema.text() }, KeyLimits);
const KeyChanges = schema.body('AdminKeyChanges', { name: schema.optional(schema.text()) }, KeyLimits);

/** Returns the changes that the body asks for. A missing member changes nothing, and `null` removes a limit. */
function changesIn(body: InstanceType<typeof KeyChanges>): ApiKeyChanges {
  const { name, expires_at: expiresAt, budget } = body;
  return {
    name,
    limits: {
      models: body.models,
      requestsPerMinute: body.requests_per_minute,
      tokensPerDay: body.tokens_per_day,
      addresses: body.addresses,
      ...(budget === null && { budgetMicros: null, budgetPer: null }),
      ...(budget && { budgetMicros: Math.round(budget.amount * MICROS), budgetPer: budget.per ?? 'month' }),
    },
    expiresAt: typeof expiresAt === 'string' ? new Date(expiresAt) : expiresAt,
  };
}

/** The error for a new key of a disabled account. */
export function accountDisabled(): ServiceError {
  return new ServiceError('invalid_request', 'The account is disabled. Enable it first.');
}

const createKey = operation({
  id: 'createKey',
  route: 'POST accounts/:account_id/keys',
  summary: 'Creates an API key for an account',
  status: 201,
  body: NewKey,
  answer: CREATED_KEY,
  isIdempotent: true,
  async run(input: ApiInput<InstanceType<typeof NewKey>>) {
    const { get, body, author } = input;
    const { id: accountId, disabledAt } = await get(AccountsService).get(input.account);
    const { limits, expiresAt } = changesIn(body);
    const create = async (id: string) => {
      if (disabledAt !== null) throw accountDisabled();
      const newKey = { id, name: body.name, limits, expiresAt: expiresAt ?? undefined };
      return (await get(ApiKeysService).create(accountId, newKey, author)).key;
    };
    return input.once(keyCreation(input, accountId, create));
  },
});

const getKey = operation({
  id: 'getKey',
  route: 'GET keys/:key_id',
  summary: 'Returns an API key, without its secret',
  answer: KEY,
  async run(input: ApiInput) {
    const keys = input.get(ApiKeysService);
    const accountId = await keys.ownerOf(input.id);
    return wireKey(input, accountId, await keys.find(input.id, accountId));
  },
});

const updateKey = operation({
  id: 'updateKey',
  route: 'PATCH keys/:key_id',
  summary: 'Changes the name, the limits and the expiry date of an active API key',
  description:
    'A missing member stays as it is. `null` removes a limit. Every replica applies the change within a second.',
  body: KeyChanges,
  answer: KEY,
  async run(input: ApiInput<InstanceType<typeof KeyChanges>>) {
    const { get, id, body, author } = input;
    const accountId = await get(ApiKeysService).ownerOf(id);
    return wireKey(input, accountId, await get(ApiKeysService).update(id, changesIn(body), accountId, author));
  },
});

const Rotation = schema.body('AdminKeyRotation', {
  overlap_seconds: schema.optional(
    schema.countWithin(0, 30 * 86_400, {
      default: 0,
      description: 'How long the old key stays valid. 0 revokes it at once.',
    }),
  ),
  expires_at: schema.optional(schema.time({ description: 'When the new key expires. By default never.' })),
});

const rotateKey = operation({
  id: 'rotateKey',
  route: 'POST keys/:key_id/rotate',
  summary: 'Replaces an API key by a new key with the same name and limits',
  status: 201,
  body: Rotation,
  answer: CREATED_KEY,
  isIdempotent: true,
  async run(input: ApiInput<InstanceType<typeof Rotation>>) {
    const { get, id: oldId, author } = input;
    const { overlap_seconds: overlapSeconds = 0, expires_at: expiry } = input.body;
    const accountId = await get(ApiKeysService).ownerOf(oldId);
    const create = async (id: string) => {
      const expiresAt = expiry === undefined ? undefined : new Date(expiry);
      const rotation = { id, overlapMs: overlapSeconds * 1_000, expiresAt };
      return (await get(ApiKeysService).rotate(oldId, accountId, rotation, author)).created.key;
    };
    return input.once(keyCreation(input, accountId, create));
  },
});

const revokeKey = operation({
  id: 'revokeKey',
  route: 'POST keys/:key_id/revoke',
  summary: 'Revokes an API key permanently',
  description: 'Every replica refuses the key within a second. To revoke a revoked key again changes nothing.',
  answer: KEY,
  async run(input: ApiInput) {
    const keys = input.get(ApiKeysService);
    const accountId = await keys.ownerOf(input.id);
    await keys.revoke(input.id, accountId, input.author);
    return wireKey(input, accountId, await keys.find(input.id, accountId));
  },
});

/** The API keys of all accounts. */
export const KEY_OPERATIONS = [listKeys, createKey, getKey, updateKey, rotateKey, revokeKey];
