import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { isUUID } from 'class-validator';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { AtomicStatements, type ChangeAuthor, type Statement } from '../../database/queries/atomic-statements.js';
import { orUnavailable } from '../../database/queries/query-failure.js';
import { checkKeyExpiry, checkKeyName, replacedKeyEnded } from './api-key-creation.js';
import { LIMIT_COLUMNS, limitParameter } from './api-key-statements.js';
import { ApiKeyVerifier } from './api-key-verifier.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysService, unknownKey, type ListedApiKey } from './api-keys.service.js';
import { checkBudgetPeriod, checkKeyLimits } from './limits/key-limit-check.js';
import { KEY_LIMIT_NAMES, type KeyLimitChanges } from './limits/key-limits.js';

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
    private readonly verifier: ApiKeyVerifier,
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
    if (!isUUID(id)) throw unknownKey();
    const now = this.now();
    const trimmed = name?.trim();
    if (trimmed !== undefined) checkKeyName(trimmed);
    checkKeyLimits(limits);
    checkKeyExpiry(expiresAt ?? undefined, now);
    const owned = accountId === undefined ? { id } : { id, accountId };
    const key = await orUnavailable(this.keys.findOneBy(owned));
    if (key === null) throw unknownKey();
    checkBudgetPeriod(limits, key.budgetMicros);
    const change = updateStatement(key, { name: trimmed, limits, expiresAt }, now);
    const [changed] = await orUnavailable(
      this.database.run({ table: 'accounts', id: key.accountId }, [change], author),
    );
    if (changed?.length !== 1) throw replacedKeyEnded();
    // This process applies the change at once. Other processes notice the change by themselves.
    this.verifier.forget(key.hashedKey);
    return this.service.find(id, key.accountId);
  }
}

function updateStatement(
  { id }: ApiKey,
  { name, limits, expiresAt }: Omit<ApiKeyChanges, 'limits'> & { readonly limits: KeyLimitChanges },
  now: number,
): Statement {
  const changed = KEY_LIMIT_NAMES.filter((limit) => limits[limit] !== undefined);
  const sets = changed.map((limit) => `${LIMIT_COLUMNS[limit]} = ${placeholder(limit)}`);
  if (name !== undefined) sets.push('name = :name');
  if (expiresAt !== undefined) sets.push('expires_at = :expiresAt');
  const parameters = Object.fromEntries(changed.map((limit) => [limit, limitParameter(limits[limit])]));
  return {
    sql: `UPDATE api_keys SET ${['id = id', ...sets].join(', ')}
      WHERE id = :id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now) RETURNING id`,
    parameters: {
      ...parameters,
      ...(name !== undefined && { name }),
      ...(expiresAt !== undefined && { expiresAt: expiresAt?.toISOString() ?? null }),
      id,
      now: new Date(now).toISOString(),
    },
  };
}

function placeholder(name: keyof KeyLimitChanges): string {
  if (name === 'budgetMicros') return `CAST(:${name} AS double precision)`;
  return name === 'requestsPerMinute' || name === 'tokensPerDay' ? `CAST(:${name} AS integer)` : `:${name}`;
}
