import Sqlite, { type Database } from 'better-sqlite3';
import { createRequire } from 'node:module';
import type { DataSource } from 'typeorm';
import { callSites } from './call-sites.js';

/** The tables that grow with the accounts and their requests. The other tables have a row for each process or running stream. */
const GROWING =
  'usage_records|usage_days|accounts|account_identities|api_keys|sessions|session_identities|audit_entries';
const SERVICE = /\/dist\/(?:usage|accounts)\//;
const READS_OR_CHANGES = /^\s*(?:SELECT|INSERT|UPDATE|DELETE)\b/i;

/** Statements whose plan looks unlimited, with the reason why the number of rows has a limit. */
const LIMITED: readonly { readonly statement: RegExp; readonly reason: string }[] = [
  { statement: /^SELECT (?!.* WHERE ).* FROM "?accounts"? .*LIMIT \d+(?: OFFSET \d+)?$/, reason: 'the limit' },
  {
    statement: /^SELECT 1 AS "row_exists" .* WHERE EXISTS \(SELECT 1 FROM "accounts" "Account"\) LIMIT 1$/,
    reason: 'the first row',
  },
  { statement: /^SELECT tier AS value, COUNT/, reason: 'the range of one step, see countByTime' },
  { statement: /^SELECT .* FROM accounts WHERE .* ORDER BY created_at DESC, id DESC/, reason: 'a step of pageByTime' },
  { statement: /"?api_keys"?.*account_id/, reason: 'an account has at most 1,100 keys' },
  { statement: /"?sessions"?.*account_id/, reason: 'an account has at most 100 sessions' },
  { statement: /^INSERT INTO accounts /, reason: 'a new account has no keys and no sessions' },
  { statement: /account_identities.*account_id/, reason: 'an account has one identity for each issuer' },
  { statement: /^SELECT .* FROM audit_entries .*ORDER BY at DESC, id DESC/, reason: 'a step of pageByTime' },
  { statement: /^DELETE FROM accounts WHERE id = /, reason: 'the keys and the sessions of one account' },
  {
    statement: /^DELETE FROM sessions WHERE id IN \(SELECT id FROM sessions WHERE expires_at/,
    reason: 'sessions that ended since the last removal',
  },
];

/** The plans of the statements of the service that would read an unlimited number of rows. */
export const unlimitedPlans: string[] = [];
/** The statements of the service so far, each with its engine. */
export const watchedStatements = new Set<string>();
/** The texts of these statements as they were executed, which are faster to compare. */
const watchedTexts = new Set<string>();
let isWatching = false;

/**
 * Reads the plan of every statement that a suite makes the usage and the accounts execute, from now on. A statement is new
 * when its text is new, so a new statement is checked as soon as any of these suites executes it.
 */
export function watchPlans(): void {
  if (isWatching) return;
  isWatching = true;
  watchSqlite();
  watchPostgres();
}

function watchSqlite(): void {
  const prototype = (Sqlite as unknown as { prototype: Database }).prototype;

  const prepare = prototype.prepare;
  prototype.prepare = function (this: Database, statement: string) {
    if (isNew('sqlite', statement)) {
      const values = [...statement.matchAll(/\?/g)].map(() => null);
      const explained = prepare.call(this, `EXPLAIN QUERY PLAN ${statement}`).all(values) as { detail: string }[];
      for (const { detail } of explained) if (isUnlimitedOnSqlite(detail)) report('SQLite', statement, detail);
    }
    return prepare.call(this, statement);
  } as Database['prepare'];
}

/** @param detail a line of `EXPLAIN QUERY PLAN`. */
export function isUnlimitedOnSqlite(detail: string): boolean {
  if (new RegExp(`^SCAN (?:${GROWING})\\b`).test(detail) || /^USE TEMP B-TREE FOR .*ORDER BY/.test(detail)) return true;
  return new RegExp(`^SEARCH (?:${GROWING})\\b.*\\(account_id=\\?\\)$`).test(detail);
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

interface PlannedRunner {
  readonly dataSource: DataSource;
  query(statement: string, values?: unknown[], structured?: boolean): Promise<unknown>;
}

function watchPostgres(): void {
  const load = createRequire(import.meta.url);
  const { PostgresQueryRunner: Runner } = load('typeorm/driver/postgres/PostgresQueryRunner.js') as {
    readonly PostgresQueryRunner: { readonly prototype: PlannedRunner };
  };

  const query = Runner.prototype.query;
  Runner.prototype.query = async function (this: PlannedRunner, statement, values, structured) {
    if (isNew('postgres', statement)) {
      for (const node of await plansOf(this.dataSource, query, statement, values)) {
        if (isUnlimitedOnPostgres(node)) report('PostgreSQL', statement, JSON.stringify({ ...node, Plans: undefined }));
      }
    }
    return query.call(this, statement, values, structured);
  };
}

/** Reads the plan with the settings that make the planner use an index on a small table, if there is one that fits. */
async function plansOf(
  source: DataSource,
  query: PlannedRunner['query'],
  statement: string,
  values: unknown[] = [],
): Promise<readonly PlanNode[]> {
  const runner = source.createQueryRunner() as unknown as PlannedRunner & {
    startTransaction(): Promise<void>;
    rollbackTransaction(): Promise<void>;
    release(): Promise<void>;
  };
  try {
    await runner.startTransaction();
    for (const setting of ['enable_seqscan', 'enable_bitmapscan', 'enable_sort']) {
      await query.call(runner, `SET LOCAL ${setting} = off`);
    }
    const rows = (await query.call(runner, `EXPLAIN (FORMAT JSON) ${statement}`, values)) as {
      readonly 'QUERY PLAN': readonly { readonly Plan: PlanNode }[];
    }[];
    return rows.flatMap((row) => row['QUERY PLAN']).flatMap(({ Plan }) => nodesOf(Plan));
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

export function isUnlimitedOnPostgres(node: PlanNode): boolean {
  const { 'Node Type': type, 'Relation Name': table = '', 'Index Cond': condition } = node;
  if (type === 'Sort' || type === 'Incremental Sort') return true;
  if (!new RegExp(`^(?:${GROWING})$`).test(table)) return false;
  if (type === 'Seq Scan') return true;
  if (!type.startsWith('Index')) return false;
  return condition === undefined || /^\(account_id = [^)]*\)$/.test(condition);
}

function isNew(engine: string, statement: string): boolean {
  const text = `${engine} ${statement}`;
  if (watchedTexts.has(text) || !READS_OR_CHANGES.test(statement) || !isOfService()) return false;
  watchedTexts.add(text);
  const key = `${engine} ${normalized(statement)}`;
  if (watchedStatements.has(key)) return false;
  watchedStatements.add(key);
  return !LIMITED.some(({ statement: known }) => known.test(normalized(statement)));
}

/** Whether the service executes the statement, and not the test itself. */
function isOfService(): boolean {
  return callSites(100).some((site) => SERVICE.test(site.getFileName() ?? ''));
}

/** The statement on one line. Lists of parameters and rows have one entry. */
function normalized(statement: string): string {
  return statement
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\$\d+/g, '?')
    .replaceAll(/\?(?:, ?\?)+/g, '?')
    .replaceAll(/\(\?\)(?:, ?\(\?\))+/g, '(?)')
    .trim();
}

function report(engine: string, statement: string, plan: string): void {
  unlimitedPlans.push(`${engine}: ${normalized(statement)}\n  ${plan}`);
}
