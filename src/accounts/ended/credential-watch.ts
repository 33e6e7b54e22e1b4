import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { In, IsNull, MoreThan } from 'typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { inChunks } from '../../platform/common/in-chunks.js';
import { Registry } from '../../platform/common/registry.js';
import { CredentialDatabase } from '../../platform/database/credential-database.js';
import { Account } from '../account/account.entity.js';
import { ApiKey } from '../api-keys/api-key.entity.js';
import { idleSince, Session, sessionEndOf } from '../sessions/session.entity.js';
import { AccountChanges } from '../credentials/account-changes.js';

const IDS_PER_QUERY = 500;

/** An API key, a session, or an account whose callers have a credential of a plugin. */
export interface WatchedCredential {
  readonly kind: 'api_key' | 'session' | 'account';
  readonly id: string;
  readonly accountId: string;
  readonly expiresAt?: Date | null | undefined;
  /** The position of {@link AccountChanges} before the credential was read from the database. By default, now. */
  readonly readAt?: number | undefined;
}

type Listener = () => void;
type Validity = Pick<Watched, 'expiresAt'> & { readonly id: string };

interface Watched {
  readonly kind: WatchedCredential['kind'];
  readonly accountId: string;
  readonly listeners: Registry<Listener>;
  /** `null`: never. `undefined` for an account that no check has found: a plugin may name accounts that are not in the database. */
  expiresAt: Date | null | undefined;
}

/** Notifies listeners when a key, a session or an account is no longer valid, regardless of which process ended it. */
@Injectable()
export class CredentialWatch implements OnModuleDestroy {
  private readonly watched = new Map<string, Watched>();
  /** The ids of credentials that may have ended. */
  private unsure = new Set<string>();
  private check: Promise<void> | undefined;

  constructor(
    private readonly database: CredentialDatabase,
    private readonly changes: AccountChanges,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    changes.subscribe((hasChanged) => this.checkChanged(hasChanged));
  }

  /**
   * Watches a credential.
   *
   * @param onEnded called once, when the credential is revoked, expires or is deleted, or its account is disabled or deleted. Must not
   * throw. Always called after this method has returned, also for a credential that has ended already.
   * @returns a function that ends the watch.
   */
  watch(credential: WatchedCredential, onEnded: Listener): () => void {
    const { id, kind, accountId, readAt = this.changes.position } = credential;
    const watched = this.watched.get(id) ?? this.begin(credential);
    const remove = watched.listeners.add(onEnded);
    // The credential may have ended between its check and this watch. Nobody knows when a plugin has read the account.
    if (kind === 'account' || this.changes.hasChangedSince(accountId, readAt)) void this.checkAll([id]);
    return () => {
      if (remove() && watched.listeners.size === 0 && this.watched.get(id) === watched) this.watched.delete(id);
    };
  }

  get size(): number {
    return this.watched.size;
  }

  onModuleDestroy(): void {
    this.watched.clear();
  }

  private begin({ id, kind, accountId, expiresAt }: WatchedCredential): Watched {
    const watched = { kind, accountId, expiresAt, listeners: new Registry<Listener>() };
    this.watched.set(id, watched);
    return watched;
  }

  private async checkChanged(hasChanged: (accountId: string) => boolean): Promise<void> {
    const now = this.now();
    const changed: string[] = [];
    for (const [id, { accountId, expiresAt }] of this.watched) {
      const hasExpired = expiresAt != null && expiresAt.getTime() <= now;
      if (hasExpired || hasChanged(accountId)) changed.push(id);
    }
    await this.checkAll(changed);
  }

  /** Checks credentials, and those whose last check has failed. There is one check at a time. */
  private async checkAll(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.unsure.add(id);
    while (this.check !== undefined) await this.check;
    if (this.unsure.size === 0) return;
    const checked = [...this.unsure];
    this.unsure = new Set();
    this.check = this.notifyEnded(checked)
      .catch(() => {
        // The database did not answer. The next round retries.
        for (const id of checked) this.unsure.add(id);
      })
      .finally(() => {
        this.check = undefined;
      });
    await this.check;
  }

  private async notifyEnded(ids: readonly string[]): Promise<void> {
    for (const kind of ['api_key', 'session', 'account'] as const) {
      const ofKind = ids.filter((id) => this.watched.get(id)?.kind === kind);
      for (const some of inChunks(ofKind, IDS_PER_QUERY)) {
        const valid = new Map((await this.validAmong(kind, some)).map((row) => [row.id, row]));
        for (const id of some) {
          const [watched, row] = [this.watched.get(id), valid.get(id)];
          if (row === undefined) this.notify(id);
          else if (watched !== undefined) watched.expiresAt = row.expiresAt;
        }
      }
    }
  }

  private async validAmong(kind: WatchedCredential['kind'], ids: readonly string[]): Promise<readonly Validity[]> {
    if (kind === 'account') return this.enabledAmong(ids);
    const now = this.now();
    const select = { id: true, expiresAt: true } as const;
    const valid = { id: In(ids), account: { disabledAt: IsNull() } };
    const expiresAt = MoreThan(new Date(now));
    if (kind === 'session') {
      const where = { ...valid, expiresAt, lastSeenAt: MoreThan(idleSince(now)) };
      const sessions = await this.database.repository(Session).find({ select: { ...select, lastSeenAt: true }, where });
      return sessions.map((session) => ({ id: session.id, expiresAt: sessionEndOf(session) }));
    }
    const unrevoked = { ...valid, revokedAt: IsNull() };
    return this.database.repository(ApiKey).find({
      select,
      where: [
        { ...unrevoked, expiresAt: IsNull() },
        { ...unrevoked, expiresAt },
      ],
    });
  }

  private async enabledAmong(ids: readonly string[]): Promise<readonly Validity[]> {
    const select = { id: true, disabledAt: true } as const;
    const found = await this.database.repository(Account).find({ select, where: { id: In(ids) } });
    const accounts = new Map(found.map((account) => [account.id, account]));
    return ids.flatMap((id): Validity[] => {
      const account = accounts.get(id);
      if (account === undefined)
        return this.watched.get(id)?.expiresAt === undefined ? [{ id, expiresAt: undefined }] : [];
      return account.disabledAt === null ? [{ id, expiresAt: null }] : [];
    });
  }

  private notify(id: string): void {
    const watched = this.watched.get(id);
    this.watched.delete(id);
    watched?.listeners.forEach((listener) => {
      listener();
    });
  }
}
