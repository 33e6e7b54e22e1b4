import { describe, expect, it } from 'vitest';
import { RecentStreams } from '../../../src/usage/queries/recent-streams.js';
import { testEngines } from '../../support/database.js';
import { ledgerSuite } from './ledger-suite.js';
import { isUnlimitedOnPostgres, isUnlimitedOnSqlite, watchedStatements } from '../../support/statement-plans.js';

describe.each(await testEngines())('the watch of plans on $name', (engine) => {
  const ledger = ledgerSuite(engine, 'once');

  it('sees the statements of the service, and not the statements of a test', async () => {
    const period = { from: new Date(0), to: new Date() };
    await new RecentStreams(ledger.source).list({ ...period, accountId: 'ada', model: 'acme/fast' }, 7);
    await ledger.source.query('SELECT id FROM usage_records');
    const engineName = engine.name === 'SQLite' ? 'sqlite' : 'postgres';
    const watched = [...watchedStatements].filter((statement) => statement.startsWith(engineName));
    expect(watched.filter((statement) => statement.includes('AND model = ?'))).not.toEqual([]);
    expect(watched.filter((statement) => statement.endsWith('SELECT id FROM usage_records'))).toEqual([]);
  });
});

describe('the plan of a statement', () => {
  it.each([
    ['SCAN usage_records', true],
    ['SCAN usage_records USING INDEX usage_records_by_time', true],
    ['SEARCH usage_records USING INDEX usage_records_by_time (account_id=?)', true],
    ['USE TEMP B-TREE FOR ORDER BY', true],
    ['USE TEMP B-TREE FOR LAST TERM OF ORDER BY', true],
    ['SEARCH usage_records USING INDEX usage_records_by_time (account_id=? AND (started_at,id)<(?,?))', false],
    ['SEARCH accounts USING INDEX sqlite_autoindex_accounts_1 (id=?)', false],
    ['SCAN usage_intents', false],
  ])('on SQLite with the line %s is unlimited: %s', (detail, isUnlimited) => {
    expect(isUnlimitedOnSqlite(detail)).toBe(isUnlimited);
  });

  it.each([
    [{ 'Node Type': 'Seq Scan', 'Relation Name': 'usage_records' }, true],
    [{ 'Node Type': 'Sort' }, true],
    [{ 'Node Type': 'Index Only Scan', 'Relation Name': 'accounts' }, true],
    [{ 'Node Type': 'Index Scan', 'Relation Name': 'usage_days', 'Index Cond': "(account_id = 'ada'::text)" }, true],
    [{ 'Node Type': 'Index Scan', 'Relation Name': 'accounts', 'Index Cond': "(id = 'ada'::text)" }, false],
    [{ 'Node Type': 'Seq Scan', 'Relation Name': 'usage_writers' }, false],
  ])('on PostgreSQL with the node %j is unlimited: %s', (node, isUnlimited) => {
    expect(isUnlimitedOnPostgres(node)).toBe(isUnlimited);
  });
});
