import type { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { EmbeddedPresence } from '../../../src/database/database-presence.js';
import { dataSourceOptions, openDataSource } from '../../../src/database/open-data-source.js';
import { UsageReports } from '../../../src/usage/reports/usage-reports.js';
import { DatabaseUsageStore } from '../../../src/usage/store/database-usage-store.js';
import type { TestDatabase, TestEngine } from '../../support/database.js';

/** A database of its own with the usage store of the service. */
export class LedgerSuite {
  database!: TestDatabase;
  source!: DataSource;
  store!: DatabaseUsageStore;
  reports!: UsageReports;
}

/** Opens the database before each test of the surrounding suite, or once, and removes it afterwards. */
export function ledgerSuite(engine: TestEngine, often: 'each' | 'once' = 'each'): LedgerSuite {
  const suite = new LedgerSuite();
  const [before, after] = often === 'once' ? [beforeAll, afterAll] : [beforeEach, afterEach];
  before(async () => {
    suite.database = await engine.create();
    suite.source = await openDataSource(dataSourceOptions(suite.database.config));
    suite.store = new DatabaseUsageStore(suite.source, new EmbeddedPresence());
    suite.reports = new UsageReports(suite.source);
  });
  after(async () => {
    await suite.source.destroy();
    await suite.database.drop();
  });
  return suite;
}
