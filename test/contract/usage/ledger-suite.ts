import type { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { EmbeddedAvailability } from '../../../src/platform/database/database-availability.js';
import { dataSourceOptions, openDataSource } from '../../../src/platform/database/database.module.js';
import { UsageReports } from '../../../src/usage/queries/usage-reports.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import type { TestDatabase, TestEngine } from '../../support/database.js';

/** A database of its own with the usage store of the service. */
export class LedgerSuite {
  database!: TestDatabase;
  source!: DataSource;
  store!: UsageStore;
  reports!: UsageReports;
}

/** Opens the database before each test of the surrounding suite, or once, and removes it afterwards. */
export function ledgerSuite(engine: TestEngine, often: 'each' | 'once' = 'each'): LedgerSuite {
  const suite = new LedgerSuite();
  const [before, after] = often === 'once' ? [beforeAll, afterAll] : [beforeEach, afterEach];
  before(async () => {
    suite.database = await engine.create();
    suite.source = await openDataSource(dataSourceOptions(suite.database.config));
    suite.store = new UsageStore(suite.source, new EmbeddedAvailability());
    suite.reports = new UsageReports(suite.source);
  });
  after(async () => {
    await suite.source.destroy();
    await suite.database.drop();
  });
  return suite;
}
