import type { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it } from 'vitest';
import { AtomicStatements } from '../../../../../src/platform/database/queries/atomic-statements.js';

const ADA = { table: 'accounts', id: 'ada' };
const BOB = { table: 'accounts', id: 'bob' };
const statement = (sql: string) => ({ sql, parameters: { value: sql } });

/** The statements of PostgreSQL that run, in the order of their beginning. */
let running: { readonly sql: string; end(error?: Error): void }[];
let atomic: AtomicStatements;

beforeEach(() => {
  running = [];
  const query = (sql: string) =>
    new Promise((resolve, reject) => {
      running.push({
        sql,
        end(error) {
          if (error === undefined) resolve({ records: [{ of: sql }] });
          else reject(error);
        },
      });
    });
  atomic = new AtomicStatements({
    options: { type: 'postgres' },
    transaction: (work: (manager: unknown) => Promise<unknown>) => work({ queryRunner: { query } }),
  } as unknown as DataSource);
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const started = (): string[] => running.map(({ sql }) => sql);
async function endNext(error?: Error): Promise<void> {
  running.shift()?.end(error);
  await turn();
}
const waiting = (): number => (Reflect.get(atomic, 'latest') as Map<string, unknown>).size;

describe('calls for a row', () => {
  it('lock the row first, and return the rows of their own statements', async () => {
    const call = atomic.run(ADA, [statement('one'), statement('two')]);
    await turn();
    expect(started()).toEqual(['SELECT id FROM accounts WHERE id = $1 FOR NO KEY UPDATE']);
    await endNext();
    expect(started()).toEqual(['one']);
    await endNext();
    await endNext();
    expect(await call).toEqual([[{ of: 'one' }], [{ of: 'two' }]]);
    expect(waiting()).toBe(0);
  });

  it('run one after the other, in the order in which they came, next to those of other rows', async () => {
    const calls = [ADA, ADA, ADA, BOB].map((row, index) => atomic.run(row, [statement(String(index))]));
    await turn();
    expect(started()).toHaveLength(2);
    await endNext();
    await endNext();
    expect(started()).toEqual(['0', '3']);
    for (let ended = 0; ended < 6; ended++) await endNext();
    expect(await Promise.all(calls)).toEqual([0, 1, 2, 3].map((index) => [[{ of: String(index) }]]));
    expect(waiting()).toBe(0);
  });

  it('run although the one before has failed', async () => {
    const [failed, next] = [atomic.run(ADA, [statement('one')]), atomic.run(ADA, [statement('two')])];
    const outcome = failed.catch((error: unknown) => error);
    await turn();
    const failure = new Error('refused');
    await endNext(failure);
    expect(await outcome).toBe(failure);
    await endNext();
    await endNext();
    expect(await next).toEqual([[{ of: 'two' }]]);
    expect(waiting()).toBe(0);
  });

  it('that come while the last one runs wait for it', async () => {
    const first = atomic.run(ADA, [statement('one')]);
    await turn();
    await endNext();
    const second = atomic.run(ADA, [statement('two')]);
    await turn();
    expect(started()).toEqual(['one']);
    await endNext();
    await first;
    expect(waiting()).toBe(1);
    await endNext();
    await endNext();
    await second;
    expect(waiting()).toBe(0);
  });
});

it('statements on SQLite take the write lock before they read', async () => {
  const rows: object[] = [{ of: 'one' }];
  const transaction = (work: () => unknown) =>
    Object.assign(() => 'in a transaction that only reads', { immediate: work });
  const onSqlite = new AtomicStatements({
    options: { type: 'better-sqlite3' },
    driver: {
      escapeQueryWithParameters: (sql: string, values: object) => [sql, Object.values(values)],
      databaseConnection: { transaction, prepare: () => ({ all: () => rows }) },
    },
  } as unknown as DataSource);

  expect(await onSqlite.run(ADA, [statement('one')])).toEqual([rows]);
});
