import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { ServiceError } from '../../platform/common/service-error.js';
import type { ChangeAuthor, Row, Statement } from '../../platform/database/queries/atomic-statements.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { queryRows } from '../../platform/database/queries/statements.js';
import { AccountChanges } from '../credentials/account-changes.js';

/** What else ends when an operator or an operator key ends: the access that it has made. */
export interface CascadeOptions {
  /** Whether it stays. By default it ends. */
  readonly keepMade?: boolean | undefined;
  /** Whether people whom people have made operators become members, too. By default they stay operators. */
  readonly endOperators?: boolean | undefined;
}

/** An operator key, an operator, or an open link. */
export interface GrantedAccess {
  readonly kind: 'operator-key' | 'operator' | 'invitation' | 'password-link';
  /** For a link for a new password, the id of its account. */
  readonly id: string;
  /** The name of a key, or the address of a person. */
  readonly name: string;
  /** The id of the operator or the operator key that has made it. */
  readonly madeBy: string;
  /** Whether it ends only with `endOperators`: it is a person whom a person has made an operator, or was made by such a person. */
  readonly isOfPeople: boolean;
}

/** The ids of what `root` has made, of what that has made, and so on. Begins with `root` itself, and leaves out `author`. */
const MADE = `WITH RECURSIVE edges (id, maker) AS (
    SELECT id, created_by FROM operator_keys WHERE created_by IS NOT NULL
    UNION ALL SELECT id, operator_by FROM accounts
      WHERE operator_by IS NOT NULL AND (:people = 'yes' OR operator_by IN (SELECT id FROM operator_keys))
  ), made (id) AS (
    SELECT CAST(:root AS text)
    UNION SELECT edges.id FROM edges JOIN made ON edges.maker = made.id WHERE edges.id <> :author
  )`;
const IS_MADE = 'IN (SELECT id FROM made)';

/** The most entries of each kind that a page shows. */
const MAX_SHOWN = 200;
const ACTIVE = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)';
const SHOWN = [
  `SELECT 'operator-key' AS kind, id, name, created_by AS maker FROM operator_keys
    WHERE id ${IS_MADE} AND id <> :root AND ${ACTIVE}`,
  `SELECT 'operator' AS kind, id, email AS name, operator_by AS maker FROM accounts WHERE id ${IS_MADE} AND id <> :root`,
  `SELECT 'invitation' AS kind, id, email AS name, created_by AS maker FROM one_time_links
    WHERE kind = 'invitation' AND created_by ${IS_MADE} AND expires_at > :now`,
  `SELECT 'password-link' AS kind, account_id AS id, accounts.email AS name, created_by AS maker FROM one_time_links
    JOIN accounts ON accounts.id = account_id WHERE created_by ${IS_MADE} AND expires_at > :now`,
];

/** Returns the id of the operator or the operator key that makes a change. `null`: the command, the service or the issuer does. */
export function makerIn(author: ChangeAuthor | undefined): string | null {
  return /^(?:account|operator-key):(.+)$/.exec(author?.actor ?? '')?.[1] ?? null;
}

/** Ends what an operator or an operator key has made: a person who has left must not keep a key that nobody remembers. */
@Injectable()
export class OperatorTree {
  constructor(
    private readonly database: DataSource,
    private readonly changes: AccountChanges,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Returns the statements that end what `root` has made, and an operator key with this id. Give the rows of all statements to
   * {@link ended}. Whoever makes the change keeps its own access.
   *
   * @param root the id of an account or of an operator key.
   */
  endings(root: string, author: ChangeAuthor | undefined, options: CascadeOptions = {}): readonly Statement[] {
    if (options.keepMade === true) return [];
    const now = new Date(this.now()).toISOString();
    const parameters = this.parameters(root, makerIn(author), options);
    const made = (sql: string, more: Statement['parameters'] = {}): Statement => ({
      sql: `${MADE} ${sql}`,
      parameters: { ...parameters, ...more },
    });
    return [
      made(
        `UPDATE operator_keys SET revoked_at = :now WHERE revoked_at IS NULL AND id ${IS_MADE}
          RETURNING id, hashed_key`,
        { now },
      ),
      made(`DELETE FROM one_time_links WHERE created_by ${IS_MADE} RETURNING id`),
      made(`UPDATE accounts SET role = 'member', operator_by = NULL WHERE id <> :root AND id ${IS_MADE} RETURNING id`),
    ];
  }

  /** Makes this process refuse the ended operator keys at once. Other processes notice their end within a second. */
  async ended(results: readonly (readonly Row[])[]): Promise<void> {
    await this.changes.notice(results.flat().flatMap(({ id }) => id ?? []));
  }

  /** Returns what {@link endings} of `root` would end, with `endOperators`. */
  async of(root: string, author: ChangeAuthor | undefined): Promise<readonly GrantedAccess[]> {
    const now = new Date(this.now()).toISOString();
    const [all, own] = [{ endOperators: true }, {}].map((options) => this.parameters(root, makerIn(author), options));
    const found: GrantedAccess[] = [];
    for (const select of SHOWN) {
      const sql = `${MADE} ${select} LIMIT ${MAX_SHOWN}`;
      const read = (parameters = {}) =>
        orUnavailable(
          queryRows<Omit<GrantedAccess, 'madeBy'> & { maker: string }>(this.database, sql, { now, ...parameters }),
        );
      const certain = new Set((await read(own)).map(({ id }) => id));
      for (const { kind, id, name, maker } of await read(all)) {
        found.push({ kind, id, name, madeBy: maker, isOfPeople: !certain.has(id) });
      }
    }
    return found;
  }

  private parameters(root: string, author: string | null, { endOperators = false }: CascadeOptions) {
    return { root, author: author ?? '', people: endOperators ? 'yes' : 'no' };
  }
}

/**
 * Returns the statements that keep an operator or an operator key from ending until the transaction is over, and a condition that
 * it has not ended. A change that gives access needs both: it would survive the end of its author otherwise.
 */
export function heldMaker(maker: string | null): { readonly locks: readonly Statement[]; readonly condition: string } {
  if (maker === null) return { locks: [], condition: 'true' };
  const parameters = { maker };
  return {
    locks: [
      { sql: `UPDATE operator_keys SET revoked_at = NULL WHERE ${KEY_OF_MAKER} RETURNING id`, parameters },
      { sql: `UPDATE accounts SET disabled_at = NULL WHERE ${ACCOUNT_OF_MAKER} RETURNING id`, parameters },
    ],
    condition: `(EXISTS (SELECT 1 FROM operator_keys WHERE ${KEY_OF_MAKER})
      OR EXISTS (SELECT 1 FROM accounts WHERE ${ACCOUNT_OF_MAKER}))`,
  };
}

const KEY_OF_MAKER = 'id = :maker AND revoked_at IS NULL';
const ACCOUNT_OF_MAKER = "id = :maker AND role = 'operator' AND disabled_at IS NULL";

/** The error for a change of an operator or an operator key that has ended meanwhile. */
export function operatorEnded(): ServiceError {
  return new ServiceError('forbidden', 'Your access as an operator has ended meanwhile.');
}
