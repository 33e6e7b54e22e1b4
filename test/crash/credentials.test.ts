import type { INestApplicationContext } from '@nestjs/common';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openAccountsApp } from '../contract/accounts/accounts-app.js';
import { testEngines, type TestDatabase } from '../support/database.js';
import { CredentialsStage, HOUR_MS, type StoredCredentials } from './credentials.js';
import { dieAt, failAt, heal, type Fault } from './faults.js';

const UNTOUCHED: StoredCredentials = {
  account: 'active',
  hasOldPassword: true,
  sessions: 1,
  activeKeys: 1,
  allKeys: 1,
  lastingKeys: 1,
};

/** The writes of each change in their order, and what is stored once all of them are done. */
const CHANGES = [
  {
    name: 'a rotation at once',
    operation: 'rotate-at-once',
    change: (stage: CredentialsStage) => stage.rotate(0),
    writes: [
      { table: 'api_keys', event: 'INSERT' },
      { table: 'api_keys', event: 'UPDATE' },
    ],
    after: { ...UNTOUCHED, allKeys: 2 },
  },
  {
    name: 'a rotation with time for the old key',
    operation: 'rotate-later',
    change: (stage: CredentialsStage) => stage.rotate(HOUR_MS),
    writes: [
      { table: 'api_keys', event: 'INSERT' },
      { table: 'api_keys', event: 'UPDATE' },
    ],
    after: { ...UNTOUCHED, allKeys: 2, activeKeys: 2 },
  },
  {
    name: 'another password',
    operation: 'replace-password',
    change: (stage: CredentialsStage) => stage.replacePassword(),
    writes: [
      { table: 'accounts', event: 'UPDATE' },
      { table: 'sessions', event: 'DELETE' },
      { table: 'api_keys', event: 'UPDATE' },
    ],
    after: { ...UNTOUCHED, hasOldPassword: false, sessions: 0, activeKeys: 0, lastingKeys: 0 },
  },
  {
    name: 'the disabling of an account',
    operation: 'disable',
    change: (stage: CredentialsStage) => stage.disable(),
    writes: [
      { table: 'sessions', event: 'DELETE' },
      { table: 'accounts', event: 'UPDATE' },
    ],
    after: { ...UNTOUCHED, account: 'disabled', sessions: 0 },
  },
  {
    name: 'the deletion of an account',
    operation: 'delete',
    change: (stage: CredentialsStage) => stage.delete(),
    writes: [
      { table: 'sessions', event: 'DELETE' },
      { table: 'api_keys', event: 'DELETE' },
      { table: 'accounts', event: 'DELETE' },
    ],
    after: { account: 'deleted', hasOldPassword: false, sessions: 0, activeKeys: 0, allKeys: 0, lastingKeys: 0 },
  },
] as const;

const CASES = CHANGES.flatMap((change) =>
  change.writes.map((fault) => ({ ...change, fault, write: `${fault.event} ${fault.table}` })),
);
/** Before the first write there is nothing to undo. */
const KILLS = CASES.filter(({ fault, writes: [first] }) => fault !== first);

describe.each(await testEngines())('credentials on $name', (engine) => {
  let database: TestDatabase;
  let app: INestApplicationContext;
  let stage: CredentialsStage;

  beforeAll(async () => {
    database = await engine.create();
    app = await openAccountsApp(database.config);
  });
  beforeEach(async () => {
    stage = await CredentialsStage.open(app);
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  it.each(CASES)('$name: where $write fails nothing has changed, and the next try does all', async (each) => {
    await failAt(stage.source, each.fault);
    await expect(each.change(stage)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await stage.stored()).toEqual(UNTOUCHED);
    await heal(stage.source, each.fault);
    await each.change(stage);
    expect(await stage.stored()).toEqual(each.after);
  });

  it.each(KILLS)('$name: killed at $write nothing has changed, and the next try does all', async (each) => {
    if (database.config.type === 'sqlite') {
      const { status, signal, stderr } = die(database.config.path, each.operation, each.fault, stage);
      expect({ status, signal, stderr }).toEqual({ status: null, signal: 'SIGKILL', stderr: '' });
    } else {
      await dieAt(stage.source, each.fault);
      await expect(each.change(stage)).rejects.toMatchObject({ code: 'unavailable' });
      await heal(stage.source, each.fault);
    }
    expect(await stage.stored()).toEqual(UNTOUCHED);
    await each.change(stage);
    expect(await stage.stored()).toEqual(each.after);
  });
});

/** Another process makes the change, and is killed by the statement. */
function die(path: string, operation: string, { table, event }: Fault, { account, key }: CredentialsStage) {
  const script = join(import.meta.dirname, 'die-in-between.mjs');
  const words = [path, operation, table, event, account.id, key.id];
  return spawnSync(process.execPath, [script, ...words], { encoding: 'utf8' });
}
