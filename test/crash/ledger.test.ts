import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dataSourceOptions, openDataSource } from '../../src/platform/database/database.module.js';
import { testEngines, type TestDatabase } from '../support/database.js';
import { waitFor } from '../support/wait-for.js';
import { failAt, heal } from './faults.js';
import { LedgerProcess, type Step } from './ledger-process.js';

const COMPLETED = { requests: 1, completed: 1, errors: 0, outcomes: ['completed'], intents: 0 };
const INTERRUPTED = { requests: 1, completed: 0, errors: 1, outcomes: ['interrupted'], intents: 0 };

describe.each(await testEngines())('the ledger on $name, between two writes', (engine) => {
  let database: TestDatabase;
  let source: DataSource;
  let first: LedgerProcess;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    database = await engine.create();
    source = await openDataSource(dataSourceOptions(database.config));
  });
  beforeEach(async () => {
    for (const table of ['usage_records', 'usage_days', 'usage_intents', 'usage_writers', 'usage_dead_letters']) {
      await source.query(`DELETE FROM ${table}`);
    }
    first = await new LedgerProcess(source).start();
  });
  afterEach(() => {
    first.kill();
  });
  afterAll(async () => {
    Logger.overrideLogger(['error', 'warn', 'log']);
    await source.destroy();
    await database.drop();
  });

  const countOf = async (table: string): Promise<number> =>
    Number((await source.query<{ n: string }[]>(`SELECT COUNT(*) AS n FROM ${table}`))[0]?.n);
  /** What the reports and the tables say. */
  const truth = async () => {
    const sums = await source.query<Record<'requests' | 'completed' | 'errors', string>[]>('SELECT * FROM usage_days');
    const sum = (name: 'requests' | 'completed' | 'errors') => sums.reduce((all, row) => all + Number(row[name]), 0);
    const outcomes = await source.query<{ outcome: string }[]>('SELECT outcome FROM usage_records');
    return {
      requests: sum('requests'),
      completed: sum('completed'),
      errors: sum('errors'),
      outcomes: outcomes.map(({ outcome }) => outcome),
      intents: await countOf('usage_intents'),
    };
  };
  /** Another process looks for what dead ones have left, and goes in order. */
  const takeOver = async () => {
    await (await new LedgerProcess(source).start()).stop();
  };
  const reached = (process: LedgerProcess, step: Step) =>
    waitFor(() => process.store.started.includes(step), `the step ${step}`);

  describe('intent, then record', () => {
    it('the write of the intent fails: the stream runs, and has its record', async () => {
      first.fails('open', 'before');
      const entry = await first.begin();
      first.heal();
      first.end(entry);
      await first.stop();
      expect(await truth()).toEqual(COMPLETED);
    });

    it('the intent is written and the reply lost: there is one record, and no intent remains', async () => {
      first.fails('open', 'after');
      const entry = await first.begin();
      first.heal();
      first.end(entry);
      await first.stop();
      expect(await truth()).toEqual(COMPLETED);
    });

    it('killed between them: the next process says that the stream was interrupted, once', async () => {
      await first.begin();
      expect(await countOf('usage_intents')).toBe(1);
      first.kill();
      await takeOver();
      await takeOver();
      expect(await truth()).toEqual(INTERRUPTED);
    });
  });

  describe('record, then removal of the intent', () => {
    it.each(['before', 'after'] as const)('the record fails %s it is written: it is written once', async (when) => {
      const entry = await first.begin();
      first.fails('append', when);
      first.end(entry);
      await reached(first, 'append');
      expect(first.store.started).not.toContain('close');
      first.heal();
      await first.stop();
      expect(await truth()).toEqual(COMPLETED);
    });

    it('the record fails and the process is killed: the stream was interrupted', async () => {
      const entry = await first.begin();
      first.fails('append', 'before');
      first.end(entry);
      await reached(first, 'append');
      first.kill();
      await takeOver();
      expect(await truth()).toEqual(INTERRUPTED);
    });

    it.each(['before', 'after'] as const)('the removal of the intent fails %s it is written', async (when) => {
      const entry = await first.begin();
      first.fails('close', when);
      first.end(entry);
      await reached(first, 'close');
      first.heal();
      await first.stop();
      expect(await truth()).toEqual(COMPLETED);
    });

    it('killed between them: the record stays what it is, and is not counted again', async () => {
      const entry = await first.begin();
      first.killAt('close');
      first.end(entry);
      await reached(first, 'close');
      expect(await truth()).toEqual({ ...COMPLETED, intents: 1 });
      await takeOver();
      expect(await truth()).toEqual(COMPLETED);
    });
  });

  describe('record, then sums', () => {
    const fault = { table: 'usage_days', event: 'INSERT' } as const;

    it('the sums fail: there is neither, and then both', async () => {
      const entry = await first.begin();
      await failAt(source, fault);
      first.end(entry);
      await waitFor(() => first.ledger.writeFailures > 0, 'the failure');
      expect(await truth()).toEqual({ requests: 0, completed: 0, errors: 0, outcomes: [], intents: 1 });
      await heal(source, fault);
      await first.stop();
      expect(await truth()).toEqual(COMPLETED);
    });
  });

  describe('interrupted record, then removal of the intent', () => {
    let second: LedgerProcess;

    beforeEach(async () => {
      await first.begin();
      first.kill();
      second = new LedgerProcess(source);
    });
    afterEach(() => {
      second.kill();
    });

    it.each<[Step, 'before' | 'after']>([
      ['abandoned', 'before'],
      ['append', 'before'],
      ['append', 'after'],
      ['close', 'before'],
      ['close', 'after'],
    ])('%s fails %s it is done: the next check completes it', async (step, when) => {
      second.fails(step, when);
      await second.start();
      await takeOver();
      expect(await truth()).toEqual(INTERRUPTED);
    });

    it.each<Step>(['append', 'close'])('killed before %s: the next process completes it', async (step) => {
      second.killAt(step);
      void second.start();
      await reached(second, step);
      await takeOver();
      expect(await truth()).toEqual(INTERRUPTED);
    });

    it('two find it at once: it is counted once', async () => {
      await Promise.all([takeOver(), takeOver(), second.start()]);
      expect(await truth()).toEqual(INTERRUPTED);
    });
  });

  describe('invalid intent: dead letter, then removal of the intent', () => {
    beforeEach(async () => {
      await first.begin();
      first.kill();
      await source.query(`UPDATE usage_intents SET streams = 'torn'`);
    });

    it('killed between them: there is one dead letter', async () => {
      const second = new LedgerProcess(source);
      second.killAt('close');
      void second.start();
      await reached(second, 'close');
      expect([await countOf('usage_dead_letters'), await countOf('usage_intents')]).toEqual([1, 1]);
      await takeOver();
      expect([await countOf('usage_dead_letters'), await countOf('usage_intents')]).toEqual([1, 0]);
      second.kill();
    });
  });

  describe('records, then leaving', () => {
    it('the records fail to the end: leaving says that the streams were interrupted, for others to write', async () => {
      const entry = await first.begin();
      first.fails('append', 'before');
      first.end(entry);
      await first.stop();
      expect(await countOf('usage_writers')).toBe(0);
      await takeOver();
      expect(await truth()).toEqual(INTERRUPTED);
    });

    it('leaving fails: nothing is lost or counted twice', async () => {
      first.fails('leave', 'before');
      first.end(await first.begin());
      await first.stop();
      await takeOver();
      expect(await truth()).toEqual(COMPLETED);
    });

    it('a process that was counted as dead lives: its own record replaces the interrupted one', async () => {
      const entry = await first.begin();
      await source.query('DELETE FROM usage_writers');
      await takeOver();
      expect(await truth()).toEqual(INTERRUPTED);
      first.end(entry);
      await first.stop();
      expect(await truth()).toEqual(COMPLETED);
    });
  });
});
