import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import {
  AtomicStatements,
  type ChangeAuthor,
  type Statement,
} from '../../platform/database/queries/atomic-statements.js';
import { AccountChanges } from '../credentials/account-changes.js';
import { checkKeyExpiry, checkKeyName, replacedKeyEnded } from './api-key-creation.js';
import { limitParameters, limitValue } from './api-key-statements.js';
import { ApiKey, KEY_LIMIT_COLUMNS, KEY_LIMIT_NAMES, type KeyLimitChanges } from './api-key.entity.js';
import { ApiKeysService, keyIn, type ListedApiKey } from './api-keys.service.js';
import { checkBudgetPeriod, checkKeyLimits } from './key-limits.js';

/** Changes of a key. A missing member stays as it is. */
export interface ApiKeyChanges {
  readonly name?: string | undefined;
  readonly limits?: KeyLimitChanges | undefined;
  /** `null`: the key never expires. */
  readonly expiresAt?: Date | null | undefined;
}

/** Changes the name, the limits and the expiry date of API keys. Every replica applies a change within a second. */
@Injectable()
export class ApiKeyUpdates {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly service: ApiKeysService,
    private readonly database: AtomicStatements,
    private readonly changes: AccountChanges,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Changes an active key.
   *
   * @param accountId when given, keys of other accounts count as unknown.
   * @throws {ServiceError} `not_found` for an unknown key; `invalid_request` for invalid limits, an expiry date in the past, and
   * a key that is expired or revoked.
   */
  async update(
    id: string,
    { name, limits = {}, expiresAt }: ApiKeyChanges,
    accountId?: string,
    author?: ChangeAuthor,
  ): Promise<ListedApiKey> {
    const key = await keyIn(this.keys, id, accountId);
    const now = this.now();
    const trimmed = name?.trim();
    if (trimmed !== undefined) checkKeyName(trimmed);
    checkKeyLimits(limits);
    checkKeyExpiry(expiresAt ?? undefined, now);
    checkBudgetPeriod(limits, key.budgetMicros);
    const change = updateStatement(key, { name: trimmed, limits, expiresAt }, now);
    const [changed] = await this.database.change({ table: 'accounts', id: key.accountId }, change, author);
    if (changed?.length !== 1) throw replacedKeyEnded();
    // This process applies the change at once. Other processes notice the change by themselves.
    await this.changes.notice([key.accountId]);
    return this.service.find(id, key.accountId);
  }
}

function updateStatement(
  { id }: ApiKey,
  { name, limits, expiresAt }: Omit<ApiKeyChanges, 'limits'> & { readonly limits: KeyLimitChanges },
  now: number,
): Statement {
  const changed = KEY_LIMIT_NAMES.filter((limit) => limits[limit] !== undefined);
  const sets = changed.map((limit) => `${KEY_LIMIT_COLUMNS[limit].name} = ${limitValue(limit)}`);
  if (name !== undefined) sets.push('name = :name');
  if (expiresAt !== undefined) sets.push('expires_at = :expiresAt');
  return {
    sql: `UPDATE api_keys SET ${['id = id', ...sets].join(', ')}
      WHERE id = :id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now) RETURNING id`,
    parameters: {
      ...limitParameters(limits, changed),
      ...(name !== undefined && { name }),
      ...(expiresAt !== undefined && { expiresAt: expiresAt?.toISOString() ?? null }),
      id,
      now: new Date(now).toISOString(),
    },
  };
}
