import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { AtomicStatements, type LockedRow, type Statement } from '../../platform/database/queries/atomic-statements.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { queryRows } from '../../platform/database/queries/statements.js';
import { NO_ACCOUNT, type WebhookEvent, WebhookOutbox } from '../../platform/outbox/webhook-outbox.js';
import { API_KEY_FORMAT, hashSecret, type KeyFormat } from '../credentials/secrets.js';
import { AccountChanges } from '../credentials/account-changes.js';
import { OPERATOR_KEY_FORMAT } from '../operator-keys/operator-key-verifier.js';
import { OperatorTree } from '../operator-keys/operator-tree.js';

/** A text that was found in a public place. */
interface Leak {
  readonly text: string;
  /** The address of the place, as the reporter says. Webhooks get it only if it is a URL of the web. */
  readonly url: string;
}

interface FoundKey {
  readonly id: string;
  readonly hashedKey: string;
  readonly isRevoked: boolean;
  /** The table of the key. */
  readonly table: 'api_keys' | 'operator_keys';
  /** {@link NO_ACCOUNT} for a key of the API for operators. */
  readonly accountId: string;
}

type KeyRow = Readonly<Record<'id' | 'hashed_key' | 'account_id', string> & Record<'revoked_at', string | null>>;

/** Revokes API keys and operator keys that were found in public places. */
@Injectable()
export class LeakedKeys {
  constructor(
    private readonly source: DataSource,
    private readonly database: AtomicStatements,
    private readonly changes: AccountChanges,
    private readonly tree: OperatorTree,
    private readonly outbox: WebhookOutbox,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Revokes the keys among the texts permanently, on every replica within a second, and reports them to webhooks. Texts without a
   * valid checksum cost no query.
   *
   * @param source the address of the reporter, for the audit log.
   * @returns the texts that are keys of this service, including keys that were revoked before.
   * @throws {ServiceError} `unavailable` when the database is unavailable.
   */
  async revoke(leaks: readonly Leak[], source: string | undefined): Promise<ReadonlySet<string>> {
    const ofAccounts = byHash(leaks, API_KEY_FORMAT);
    const ofOperators = byHash(leaks, OPERATOR_KEY_FORMAT);
    const leaksByHash = new Map([...ofAccounts, ...ofOperators]);
    const found = [
      ...(await this.find('api_keys', [...ofAccounts.keys()])),
      ...(await this.find('operator_keys', [...ofOperators.keys()])),
    ];
    for (const key of found.filter(({ isRevoked }) => !isRevoked)) {
      await this.revokeKey(key, leaksByHash.get(key.hashedKey)?.url ?? '', source);
    }
    return new Set(found.map(({ hashedKey }) => leaksByHash.get(hashedKey)?.text ?? ''));
  }

  private async revokeKey(key: FoundKey, url: string, source: string | undefined): Promise<void> {
    const { id, table, accountId } = key;
    const event: WebhookEvent = {
      ...{ type: 'key.leaked', subject: [id], accountId, keyId: id },
      data: { url: webAddress(url) },
    };
    const author = { actor: 'secret-scanner', source };
    const statements = [
      revokeStatement(table, id, this.now()),
      ...this.outbox.statements(event, isRevoked(table)),
      // Whoever has found the key may have made access that lasts.
      ...(table === 'api_keys' ? [] : this.tree.endings(id, author, { endOperators: true })),
    ];
    const revoked = await this.database.change(lockOf(key), statements, author);
    if (table === 'api_keys') await this.changes.notice([accountId]);
    else await this.tree.ended(revoked);
    this.outbox.notify();
  }

  private async find(table: FoundKey['table'], hashes: readonly string[]): Promise<readonly FoundKey[]> {
    if (hashes.length === 0) return [];
    const account = table === 'api_keys' ? 'account_id' : `'${NO_ACCOUNT}'`;
    const sql = `SELECT id, hashed_key, revoked_at, ${account} AS account_id FROM ${table} WHERE hashed_key IN (:hashes)`;
    const rows = await orUnavailable(queryRows<KeyRow>(this.source, sql, { hashes }));
    return rows.map((row) => ({
      id: row.id,
      hashedKey: row.hashed_key,
      isRevoked: row.revoked_at !== null,
      table,
      accountId: row.account_id,
    }));
  }
}

function byHash(leaks: readonly Leak[], format: KeyFormat): ReadonlyMap<string, Leak> {
  return new Map(leaks.filter(({ text }) => format.isWellFormed(text)).map((leak) => [hashSecret(leak.text), leak]));
}

function lockOf({ table, id, accountId }: FoundKey): LockedRow {
  return table === 'api_keys' ? { table: 'accounts', id: accountId } : { table, id };
}

/** Whether the key is revoked, for the statements of the event: the key can have been deleted meanwhile. */
function isRevoked(table: FoundKey['table']): string {
  return `EXISTS (SELECT 1 FROM ${table} WHERE id = :keyId AND revoked_at IS NOT NULL)`;
}

function revokeStatement(table: FoundKey['table'], id: string, now: number): Statement {
  return {
    sql: `UPDATE ${table} SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL RETURNING id`,
    parameters: { id, now: new Date(now).toISOString() },
  };
}

/** Returns the address in ASCII, without characters that change how it looks. `null`: it is no address of the web. */
function webAddress(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? url.href : null;
}
