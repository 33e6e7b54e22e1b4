import { createHash, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DAY_MS, utcDay } from '../../platform/common/clock.js';
import type { ChangeAuthor } from '../../platform/database/queries/atomic-statements.js';
import { deletePortion } from '../../platform/database/queries/delete-portion.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { pageByTime, type Condition, type TimePosition } from '../../platform/database/queries/page-by-time.js';
import { engineOf, insertStatement } from '../../platform/database/queries/statements.js';
import { TRIGGERED_ACTIONS } from '../../platform/database/migrations/audit-statements.js';
import { AccountsService } from '../accounts/accounts.service.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { OperatorKeys } from '../operator-keys/operator-keys.service.js';
import { ServiceError } from '../../platform/common/service-error.js';
import type { DeliveredTable } from '../../platform/outbox/outbox-entries.js';

export type { ChangeAuthor };

/**
 * A change of an account, a key, a session or the configuration. Times are texts in ISO 8601.
 *
 * @since 1.0
 */
export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  /** Who made the change: `account:<id> (<email>)`, `operator-key:<id> (<name>)`, `command`, `issuer` or `service`. */
  readonly actor: string;
  /** Such as `key.created`. docs/accounts.md lists all actions. */
  readonly action: string;
  /**
   * What was changed: `account:<id> (<email>)`, `key:<id> (<name> of <email>)`, `session:<start of the id> (<email>)`,
   * `operator-key:<id> (<name>)`, `invitation:<id>` or `configuration`; or what an operator has tried or closed:
   * `route:<upstream> <model>`, `upstream:<name>` or `webhook:<name>`.
   */
  readonly target: string;
  /** The address of the client, or the user and the host of a command. `null`: not known. */
  readonly source: string | null;
  /** The changed values before and after the change, never a secret. `null`: the action says everything. */
  readonly before: unknown;
  readonly after: unknown;
}

/** Which entries a list has. A member that is `undefined` does not restrict the list. */
export interface AuditFilter {
  /** The account that was changed, or whose key or session was changed. */
  readonly accountId?: string | undefined;
  readonly action?: string | undefined;
  /** Days in UTC, both included, as `YYYY-MM-DD`. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface AuditPage {
  /** The newest first. */
  readonly entries: readonly AuditEntry[];
  /** The position after which the next page begins. `undefined`: this is the last page. */
  readonly next: TimePosition | undefined;
}

interface AuditRow {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly account_id: string | null;
  readonly source: string | null;
  readonly value_before: string | null;
  readonly value_after: string | null;
}

/** All actions that entries can have. */
export const AUDIT_ACTIONS: readonly string[] = [
  ...TRIGGERED_ACTIONS,
  'config.loaded',
  'route.probed',
  'circuit.closed',
  'webhook.tested',
].sort();

/** The columns of keys that hold lists. */
const LISTS: ReadonlySet<string> = new Set(['models', 'addresses']);
const COLUMNS = ['id', 'at', 'actor', 'action', 'target', 'account_id', 'source', 'value_before', 'value_after'];
const ENTRIES_AT_ONCE = 200;
const PAGE = 500;
const ACCOUNT = /^account:(.+)$/;
const OPERATOR_KEY = /^operator-key:(.+)$/;
const KEY = /^key:(.+)$/;

/** Reads the audit log. Triggers of the database write it: see `audit-statements.ts`. */
@Injectable()
export class AuditLog {
  /** What the sinks of plugins get. */
  readonly delivered: DeliveredTable<AuditEntry> = {
    name: 'audit_entries',
    columns: COLUMNS,
    subscribers: {
      kind: 'audit sink',
      names: /^[\w.-]{1,100}$/,
      rule: '1 to 100 letters, digits, "_", "." or "-"',
    },
    rowsAtOnce: ENTRIES_AT_ONCE,
    isFromBeginning: true,
    rowsOf: (stored) => this.entriesOf(stored as unknown as readonly AuditRow[]),
  };

  constructor(
    private readonly database: DataSource,
    private readonly accounts: AccountsService,
    private readonly operatorKeys: OperatorKeys,
    private readonly keys: ApiKeysService,
  ) {}

  /** Returns one page. If few entries pass the filter, a page can have fewer entries than `limit`: see {@link pageByTime}. */
  async page(filter: AuditFilter, after: TimePosition | undefined, limit: number): Promise<AuditPage> {
    const { from, to } = filter;
    const list = {
      table: 'audit_entries',
      columns: COLUMNS.join(', '),
      timeColumn: 'at',
      ...conditionsOf(filter),
      from,
      to: to && dayAfter(to),
    };
    const { rows, next } = await pageByTime<AuditRow>(this.database, list, after, limit);
    return { entries: await this.entriesOf(rows), next };
  }

  /** Returns all entries that pass the filter in pages, the newest first. */
  async *pages(filter: AuditFilter): AsyncGenerator<readonly AuditEntry[], void> {
    let position: TimePosition | undefined;
    do {
      const { entries, next } = await this.page(filter, position, PAGE);
      yield entries;
      position = next;
    } while (position !== undefined);
  }

  /**
   * Writes that the configuration was loaded, unless the latest such entry has the same hash. So several replicas with one file
   * write one entry.
   *
   * @param hash the SHA-256 of the configuration file, or `built-in`.
   */
  async configurationLoaded(hash: string, at: Date): Promise<void> {
    const engine = engineOf(this.database);
    const latest = `SELECT id, value_after FROM audit_entries WHERE action = 'config.loaded' ORDER BY at DESC, id DESC LIMIT 1`;
    const [before] = await orUnavailable(this.database.query<{ id: string; value_after: string }[]>(latest));
    const after = JSON.stringify({ sha256: hash });
    if (before?.value_after === after) return;
    // The same id on every replica, so that replicas that reload at the same time write one entry.
    const id = createHash('sha256')
      .update(`${hash} ${before?.id ?? ''}`)
      .digest('hex');
    const values = [id, at.toISOString(), 'service', 'config.loaded', 'configuration', before?.value_after, after];
    const columns = ['id', 'at', 'actor', 'action', 'target', 'value_before', 'value_after'];
    const sql = `${insertStatement(engine, 'audit_entries', columns, 1)} ON CONFLICT DO NOTHING`;
    await orUnavailable(this.database.query(sql, values));
  }

  /** Writes an entry about an action that changes no row of a table, such as a probe of a route. */
  async append({ actor, source }: ChangeAuthor, action: string, target: string, at: Date): Promise<void> {
    const columns = ['id', 'at', 'actor', 'action', 'target', 'source'];
    const sql = insertStatement(engineOf(this.database), 'audit_entries', columns, 1);
    await orUnavailable(this.database.query(sql, [randomUUID(), at.toISOString(), actor, action, target, source]));
  }

  /** Deletes a portion of the entries before a time. Returns whether there may be more. */
  deleteBefore(time: Date): Promise<boolean> {
    return deletePortion(this.database, 'audit_entries', 'at < :time ORDER BY at', { time: time.toISOString() });
  }

  private async entriesOf(rows: readonly AuditRow[]): Promise<AuditEntry[]> {
    const texts = rows.flatMap(({ actor, target }) => [actor, target]);
    const accountIds = rows.flatMap(({ account_id: id }) => id ?? []);
    const [emails, operatorKeyNames, keyNames] = await Promise.all([
      this.accounts.emailsOf([...new Set([...idsIn(ACCOUNT, texts), ...accountIds])]),
      this.operatorKeys.namesOf(idsIn(OPERATOR_KEY, texts)),
      this.keys.namesOf(idsIn(KEY, texts)),
    ]);
    const named = (text: string, accountId: string | null): string => {
      const own = emails.get(ACCOUNT.exec(text)?.[1] ?? '') ?? operatorKeyNames.get(OPERATOR_KEY.exec(text)?.[1] ?? '');
      const email = emails.get(accountId ?? '');
      const name = own ?? ofAccount(keyNames.get(KEY.exec(text)?.[1] ?? ''), email);
      return name === undefined ? text : `${text} (${name})`;
    };
    return rows.map(({ actor, target, account_id: accountId, value_before: before, value_after: after, ...row }) => ({
      ...row,
      actor: named(actor, null),
      target: named(target, accountId),
      before: valuesIn(before),
      after: valuesIn(after),
    }));
  }
}

/** The name of something with the address of its account, as far as they are known. */
function ofAccount(name: string | undefined, email: string | undefined): string | undefined {
  return name === undefined || email === undefined ? (name ?? email) : `${name} of ${email}`;
}

/** An entry as the API and the command show it. */
export function wireEntry({ at, actor, action, target, source, before, after }: AuditEntry) {
  return { at, actor, action, target, source, before, after };
}

/** Returns the values of a change. The triggers write the columns as they are, and lists are stored as JSON texts. */
function valuesIn(text: string | null): unknown {
  if (text === null) return null;
  return JSON.parse(text, (name, value: unknown) =>
    LISTS.has(name) && typeof value === 'string' ? (JSON.parse(value) as unknown) : value,
  );
}

/** The table has an index for an account, and one for an action. */
function conditionsOf({ accountId, action }: AuditFilter): Record<'scope' | 'filter', readonly Condition[]> {
  const ofAction = action === undefined ? [] : [equals('action', action)];
  return accountId === undefined
    ? { scope: ofAction, filter: [] }
    : { scope: [equals('account_id', accountId)], filter: ofAction };
}

function idsIn(kind: RegExp, texts: readonly string[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => kind.exec(text)?.[1] ?? []))];
}

function equals(column: string, value: string): Condition {
  return (mark) => `${column} = ${mark(value)}`;
}

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00.000Z`) + DAY_MS).toISOString();
}

const TIME = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/;

/**
 * Checks a day of a request for audit entries: `YYYY-MM-DD` in UTC. A time in ISO 8601 counts as its day.
 *
 * @throws {ServiceError} `invalid_request` when the text is no day.
 */
export function auditDay(text: string | undefined, field: string): string | undefined {
  if (text === undefined || text === '') return undefined;
  const moment = TIME.test(text) ? Date.parse(text) : NaN;
  // Date.parse accepts the 30th of February as a day of March.
  if (!Number.isNaN(moment) && utcDay(moment) === text.slice(0, 10)) return text.slice(0, 10);
  throw new ServiceError('invalid_request', `"${field}" must be a day in the form YYYY-MM-DD.`, {
    details: [{ field, message: 'must be a day in the form YYYY-MM-DD' }],
  });
}
