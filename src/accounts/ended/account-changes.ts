import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Registry } from '../../common/registry.js';
import { Rounds } from '../../common/timers/rounds.js';
import { CredentialDatabase } from '../../database/credential-database.js';
import { LateRows } from '../../database/queries/late-rows.js';

/** Every replica notices a change within a second. */
const ROUND_EVERY_MS = 500;
const RETRY_AFTER_MS = 1_000;
const ENTRIES_AT_ONCE = 500;

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

/** A change after which facts about an account or a credential that were read before can be wrong. */
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

/**
 * Notifies listeners of changes of accounts and credentials, whichever process made them. Reads the audit log, which has an entry in
 * the transaction of each change. Sends no queries without a listener.
 */
@Injectable()
export class AccountChanges implements OnModuleDestroy {
  private readonly logger = new Logger('AccountChanges');
  private readonly listeners = new Registry<(change: AccountChange) => void>();
  private readonly rounds = new Rounds(() => this.run());
  private isStarted = false;
  /** The time of the latest entry that was read, by the clock of the database. `undefined`: none was read yet. */
  private latest: string | undefined;
  private readonly lateEntries = new LateRows();
  private isBehind = false;

  constructor(private readonly database: CredentialDatabase) {}

  /** @returns a function that removes the listener. */
  listen(listener: (change: AccountChange) => void): () => void {
    const remove = this.listeners.add(listener);
    if (!this.isStarted) {
      this.isStarted = true;
      this.rounds.start(0);
    }
    return () => void remove();
  }

  onModuleDestroy(): Promise<void> {
    return this.rounds.stop();
  }

  private async run(): Promise<number> {
    try {
      await this.round();
      this.isBehind = false;
      return ROUND_EVERY_MS;
    } catch (error) {
      const msg = 'Changes of accounts cannot be read. Plugins are notified when the database is back';
      if (!this.isBehind) this.logger.warn({ msg, reason: String(error) });
      this.isBehind = true;
      return RETRY_AFTER_MS;
    }
  }

  /** The first round only finds the end of the log. */
  private async round(): Promise<void> {
    const isFirst = this.latest === undefined;
    this.latest ??= await this.endOfLog();
    let position = { at: LateRows.readAgainFrom(this.latest), id: '' };
    for (;;) {
      const entries = await this.following(position);
      const fresh = this.lateEntries.newAmong(entries);
      this.lateEntries.add(fresh);
      if (!isFirst) for (const entry of fresh) this.notify(entry);
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

  private notify({ action, target, account_id: accountId }: Entry): void {
    if (!isNotified(action) || accountId === null) return;
    const credentialId = action.startsWith('account.') ? undefined : target.slice(target.indexOf(':') + 1);
    this.listeners.forEach((listener) => {
      try {
        listener({ action, accountId, credentialId });
      } catch (error) {
        this.logger.error(error instanceof Error ? error : new Error('A listener failed', { cause: error }));
      }
    });
  }
}

function isNotified(action: string): action is AccountChange['action'] {
  return (ACTIONS as readonly string[]).includes(action);
}
