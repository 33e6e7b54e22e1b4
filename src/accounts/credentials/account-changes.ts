import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Registry } from '../../platform/common/registry.js';
import { elapsedMs } from '../../platform/common/timers/pace.js';
import { PeriodicTask } from '../../platform/common/timers/periodic-task.js';
import { CredentialDatabase } from '../../platform/database/credential-database.js';

/**
 * A transaction becomes visible later than the time of its rows. Each round of a reader reads this part of a log again, so that it
 * finds such rows. No transaction of the service takes so long.
 */
const READ_AGAIN_MS = 60_000;

interface LogRow {
  readonly id: string;
  /** The time in ISO 8601. */
  readonly at: string;
}

/** Finds the rows of a log that are new, although each round reads the end of the log again. */
class LateRows {
  /** The ids of the rows that are read again, with their times. */
  private readonly known = new Map<string, string>();

  /** Returns the time from which to read, if rows up to `until` were read. An empty text: from the beginning. */
  static readAgainFrom(until: string): string {
    return until === '' ? '' : new Date(Date.parse(until) - READ_AGAIN_MS).toISOString();
  }

  /** Returns the rows that were not added before. */
  newAmong<Row extends LogRow>(rows: readonly Row[]): readonly Row[] {
    return rows.filter(({ id }) => !this.known.has(id));
  }

  add(rows: readonly LogRow[]): void {
    for (const { id, at } of rows) this.known.set(id, at);
  }

  /** Removes the rows that are not read again, if rows up to `until` were read. */
  removeBefore(until: string): void {
    const begin = LateRows.readAgainFrom(until);
    for (const [id, at] of this.known) if (at < begin) this.known.delete(id);
  }
}

/** Every replica notices a change within a second. */
const ROUND_EVERY_MS = 450;
/** What was read before is out of date when the log was not read for this long. */
const CURRENT_FOR_MS = 900;
const ENTRIES_AT_ONCE = 500;
const MAX_CHANGED = 50_000;

const ACTIONS = [
  'account.disabled',
  'account.enabled',
  'account.deleted',
  'account.tier_changed',
  'account.role_changed',
  'key.revoked',
  'key.updated',
  'session.ended',
] as const;
/** An operator key belongs to no account. Its own id counts as the id of an account. */
const OPERATOR_KEY = /^operator-key:(.+)$/;

/**
 * A change after which facts about an account or a credential that were read before can be wrong.
 *
 * @since 1.0
 */
export interface AccountChange {
  readonly action: (typeof ACTIONS)[number];
  readonly accountId: string;
  /** The id of the key. For a session, the first 12 characters of its id. `undefined` for a change of the account. */
  readonly credentialId: string | undefined;
}

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly action: string;
  readonly target: string;
  readonly account_id: string | null;
}

/** Is called after each round. Must not throw. */
type ChangedAccounts = (hasChanged: (accountId: string) => boolean) => Promise<void>;

/**
 * Knows which accounts have changed, whichever process made the change. Reads the audit log, which has an entry in the transaction of
 * each change. A change of this process is also noticed at once.
 */
@Injectable()
export class AccountChanges implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('AccountChanges');
  private readonly listeners = new Registry<(change: AccountChange) => void>();
  private readonly subscribers = new Registry<ChangedAccounts>();
  private readonly task = new PeriodicTask(() => this.run());
  /** The latest position at which each account has changed, the oldest first. */
  private readonly changed = new Map<string, number>();
  /** Any account may have changed until this position. */
  private floor = 0;
  /** The time of the latest entry that was read, by the clock of the database. `undefined`: none was read yet. */
  private latest: string | undefined;
  private readonly lateEntries = new LateRows();
  private hasStarted = false;
  private isBehind = false;
  private readAt = -Infinity;
  private current = 0;

  constructor(private readonly database: CredentialDatabase) {}

  /** Grows with each change that this process notices. */
  get position(): number {
    return this.current;
  }

  /** Whether this process has noticed each change that is older than a second. */
  get isCurrent(): boolean {
    return elapsedMs() - this.readAt < CURRENT_FOR_MS;
  }

  /** Whether what was read at a position may be wrong by now. */
  hasChangedSince(accountId: string, position: number): boolean {
    // The floor rises above earlier changes when the first round has found the end of the log.
    return Math.max(this.changed.get(accountId) ?? 0, this.floor) > position;
  }

  /** Notices changes that this process has made. Resolves when all subscribers have applied them. */
  async notice(accountIds: Iterable<string>): Promise<void> {
    const changed = new Set(accountIds);
    for (const id of changed) {
      this.changed.delete(id);
      this.changed.set(id, ++this.current);
    }
    for (const [id, position] of this.changed) {
      if (this.changed.size <= MAX_CHANGED) break;
      this.changed.delete(id);
      this.floor = position;
    }
    await this.publish((accountId) => changed.has(accountId));
  }

  /** For parts of the service. Plugins use {@link listen}. */
  subscribe(subscriber: ChangedAccounts): void {
    this.subscribers.add(subscriber);
  }

  /** @returns a function that removes the listener. */
  listen(listener: (change: AccountChange) => void): () => void {
    const remove = this.listeners.add(listener);
    return () => void remove();
  }

  onApplicationBootstrap(): void {
    this.task.start(0);
  }

  onModuleDestroy(): Promise<void> {
    return this.task.stop();
  }

  private async publish(hasChanged: (accountId: string) => boolean): Promise<void> {
    const applied: Promise<void>[] = [];
    this.subscribers.forEach((subscriber) => applied.push(subscriber(hasChanged)));
    await Promise.all(applied);
  }

  private async run(): Promise<number> {
    // Also what a round has read before it has failed.
    const changed = new Set<string>();
    let isFirst = false;
    try {
      const startedAt = elapsedMs();
      await this.round(changed);
      isFirst = !this.hasStarted;
      this.hasStarted = true;
      this.readAt = startedAt;
      this.isBehind = false;
    } catch (error) {
      const msg = 'Changes of accounts cannot be read. Plugins are notified when the database is back';
      if (!this.isBehind) this.logger.warn({ msg, reason: String(error) });
      this.isBehind = true;
    }
    // What was read before the end of the log was found may be older than an entry before this end.
    if (isFirst) this.floor = ++this.current;
    void (isFirst ? this.publish(() => true) : this.notice(changed));
    return ROUND_EVERY_MS;
  }

  /** Adds the accounts that have changed. The first round only finds the end of the log. */
  private async round(changed: Set<string>): Promise<void> {
    this.latest ??= await this.endOfLog();
    let position = { at: LateRows.readAgainFrom(this.latest), id: '' };
    for (;;) {
      const entries = await this.following(position);
      const fresh = this.lateEntries.newAmong(entries);
      this.lateEntries.add(fresh);
      if (this.hasStarted) for (const entry of fresh) for (const id of this.notify(entry)) changed.add(id);
      const last = entries.at(-1);
      if (last !== undefined && last.at > this.latest) this.latest = last.at;
      if (last === undefined || entries.length < ENTRIES_AT_ONCE) break;
      position = last;
    }
    this.lateEntries.removeBefore(this.latest);
  }

  private async endOfLog(): Promise<string> {
    const sql = 'SELECT at FROM audit_entries ORDER BY at DESC, id DESC LIMIT 1';
    const [entry] = await this.database.rows<Pick<Entry, 'at'>>(sql);
    return entry?.at ?? '';
  }

  private following({ at, id }: Pick<Entry, 'at' | 'id'>): Promise<readonly Entry[]> {
    // Entries of other actions are left out later: with a condition on the action, SQLite would sort all entries of each action.
    const sql = `SELECT id, at, action, target, account_id FROM audit_entries
      WHERE (at, id) > (:at, :id) ORDER BY at, id LIMIT ${ENTRIES_AT_ONCE}`;
    return this.database.rows<Entry>(sql, { at, id });
  }

  /** Notifies the listeners. Returns the account that has changed, if one has. */
  private notify({ action, target, account_id: accountId }: Entry): readonly string[] {
    if (action === 'operator_key.revoked') return OPERATOR_KEY.exec(target)?.slice(1) ?? [];
    if (!isNotified(action) || accountId === null) return [];
    const credentialId = action.startsWith('account.') ? undefined : target.slice(target.indexOf(':') + 1);
    this.listeners.forEach((listener) => {
      try {
        listener({ action, accountId, credentialId });
      } catch (error) {
        this.logger.error(error instanceof Error ? error : new Error('A listener failed', { cause: error }));
      }
    });
    return [accountId];
  }
}

function isNotified(action: string): action is AccountChange['action'] {
  return (ACTIONS as readonly string[]).includes(action);
}
