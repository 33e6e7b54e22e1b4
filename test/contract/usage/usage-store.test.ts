import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { EmbeddedAvailability } from '../../../src/platform/database/database-availability.js';
import { interruptedRecord, testStartedStream, testUsageRecord } from '../../support/usage-records.js';
import type { IntentBatch } from '../../../src/usage/store/started-streams.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { testEngines } from '../../support/database.js';
import { ledgerSuite } from './ledger-suite.js';
import { started, over, storedRecords, TODAY } from './records.js';

const DAY_MS = 86_400_000;

const engines = await testEngines();

describe.each(engines)('the usage store of the service on $name', (engine) => {
  const ledger = ledgerSuite(engine);

  beforeEach(async () => {
    await ledger.store.beat();
  });

  const outcomes = async () => (await storedRecords(ledger.source)).map(({ id, outcome }) => ({ id, outcome }));
  const batch = (): IntentBatch => ({ id: randomUUID(), streams: [testStartedStream(), testStartedStream()] });
  const another = async () => {
    const other = new UsageStore(ledger.source, new EmbeddedAvailability());
    await other.beat();
    return other;
  };

  it('keeps an unknown cost apart from a cost of 0', async () => {
    const [unknown, free] = [testUsageRecord({ costMicros: undefined }), testUsageRecord({ costMicros: 0 })];
    await ledger.store.append([unknown, free]);
    const costs = new Map((await storedRecords(ledger.source)).map(({ id, cost_micros: cost }) => [id, cost]));
    expect(costs.get(unknown.id)).toBeNull();
    expect(Number(costs.get(free.id) ?? NaN)).toBe(0);
  });

  it('corrects an interrupted stream once, and nothing else', async () => {
    const stream = testStartedStream();
    await ledger.store.append([interruptedRecord(stream)]);
    expect(await outcomes()).toEqual([{ id: stream.id, outcome: 'interrupted' }]);
    await ledger.store.append([testUsageRecord({ ...stream, outcome: 'completed' })]);
    await ledger.store.append([interruptedRecord(stream)]);
    await ledger.store.append([testUsageRecord({ ...stream, outcome: 'client_gone' })]);
    expect(await outcomes()).toEqual([{ id: stream.id, outcome: 'completed' }]);
  });

  it('hands over the intents of a replica that has left, until they are closed', async () => {
    const other = await another();
    const [left, closed] = [batch(), batch()];
    await other.open(left);
    await other.open(left);
    await other.open(closed);
    await other.close([closed.id]);
    await other.leave();
    expect(await ledger.store.abandoned()).toEqual([left]);
    await ledger.store.close([left.id]);
    await ledger.store.close([left.id, randomUUID()]);
    expect(await ledger.store.abandoned()).toEqual([]);
  });

  it('returns the stored data unchanged', async () => {
    const record = over();
    await ledger.store.append([record]);
    expect(await storedRecords(ledger.source)).toEqual([
      {
        id: record.id,
        request_id: record.requestId,
        account_id: record.accountId,
        credential: 'api_key',
        key_id: 'laptop',
        key_prefix: record.keyPrefix,
        model: record.model,
        upstream: record.upstream,
        attempts: 1,
        attempt_details: '[{"upstream":"acme","duration_ms":900}]',
        detached: 0,
        surface: null,
        started_at: new Date(record.startedAt),
        first_text_at: new Date(Math.floor(record.firstTextAt ?? 0)),
        ended_at: new Date(Math.floor(record.endedAt ?? 0)),
        outcome: record.outcome,
        error_code: null,
        finish_reason: record.finishReason,
        prompt_tokens: 10,
        cached_prompt_tokens: 6,
        cache_write_prompt_tokens: 3,
        prompt_tokens_source: 'reported',
        completion_tokens: record.outputTokens.count,
        reasoning_completion_tokens: null,
        tool_calls: null,
        completion_tokens_source: 'estimated',
        input_price: 1,
        output_price: 2,
        cached_input_price: 0.1,
        cache_write_input_price: 1.25,
        reasoning_output_price: null,
        cost_micros: 50,
        currency: 'USD',
      },
    ]);
  });

  describe('of several processes', () => {
    const batch = () => ({ id: randomUUID(), streams: [started(), started()] });

    it('hands over what a process left open, and not what a living one has open', async () => {
      const other = new UsageStore(ledger.source, new EmbeddedAvailability());
      await other.beat();
      const [mine, theirs] = [batch(), batch()];
      await ledger.store.open(mine);
      await other.open(theirs);
      await other.open(theirs);
      // Two stores in one process have its number: what has our number and is not ours was there before us.
      expect(await ledger.store.abandoned()).toEqual([theirs]);
      await ledger.store.close([theirs.id]);
      expect(await ledger.store.abandoned()).toEqual([]);
    });

    it.each([
      ['of this machine that runs', { host: 'here', pid: process.ppid, age: 0 }, 0],
      ['of this machine that does not run', { host: 'here', pid: 4_194_303, age: 0 }, 1],
      ['of another machine that was heard of lately', { host: 'elsewhere', pid: 4_194_303, age: 30 }, 0],
      ['of another machine that was not', { host: 'elsewhere', pid: 4_194_303, age: 90 }, 1],
    ])('thinks right of a process %s', async (_, { host, pid, age }, expected) => {
      const other = new UsageStore(ledger.source, new EmbeddedAvailability());
      await other.beat();
      await other.open(batch());
      const { hostname } = await import('node:os');
      await ledger.source.query(
        `UPDATE usage_writers SET host = '${host === 'here' ? hostname() : host}', pid = ${pid}, seen_at = seen_at - ${age}`,
      );
      await ledger.store.beat();
      expect(await ledger.store.abandoned()).toHaveLength(expected);
    });

    it('releases the reserved money of a process that is gone, and of no other', async () => {
      const other = new UsageStore(ledger.source, new EmbeddedAvailability());
      for (const store of [other, ledger.store]) await store.beat();
      await ledger.source.query(`UPDATE usage_writers SET host = 'elsewhere'`);
      await ledger.source.query(
        `INSERT INTO budget_holds (id, account_id, micros, writer_id) SELECT id, 'ada', 1, id FROM usage_writers`,
      );
      const holds = async () => (await ledger.source.query<{ id: string }[]>('SELECT id FROM budget_holds')).length;
      const before = await holds();
      await ledger.store.abandoned();
      expect(await holds()).toBe(before);
      await other.leave();
      await ledger.store.abandoned();
      expect(await holds()).toBe(before - 1);
      await ledger.source.query('DELETE FROM budget_holds');
    });

    it('waits for a heartbeat of the other processes after an outage of the database', async () => {
      const other = new UsageStore(ledger.source, new EmbeddedAvailability());
      await other.beat();
      await other.open(batch());
      await ledger.source.query(`UPDATE usage_writers SET host = 'elsewhere', seen_at = seen_at - 90`);
      const startedAt = performance.now();
      const clock = vi.spyOn(performance, 'now');
      const abandonedAfter = async (seconds: number) => {
        clock.mockReturnValue(startedAt + seconds * 1000);
        await ledger.store.beat();
        return ledger.store.abandoned();
      };
      try {
        expect(await abandonedAfter(80)).toEqual([]);
        expect(await abandonedAfter(90)).toEqual([]);
        expect(await abandonedAfter(101)).toHaveLength(1);
      } finally {
        clock.mockRestore();
      }
    });
  });

  it('sums up by day, model and key, for one account alone', async () => {
    await ledger.store.append([
      over(),
      over({ outcome: 'upstream_failed', outputTokens: { source: 'unknown' }, costMicros: undefined }),
      over({ outcome: 'client_gone', startedAt: TODAY + DAY_MS - 1 }),
      over({ startedAt: TODAY - 1 }),
      over({ startedAt: TODAY + DAY_MS }),
      over({ model: 'acme/slow', keyId: undefined, keyPrefix: undefined, credential: 'session', costMicros: 7 }),
      over({ accountId: 'bob' }),
    ]);
    const own = await ledger.reports.daily('ada', new Date(TODAY), new Date(TODAY + DAY_MS));
    expect(own.map(({ model, requests }) => [model, requests])).toEqual([
      ['acme/fast', 3],
      ['acme/slow', 1],
    ]);
    expect(own[0]).toMatchObject({
      day: '2026-11-21',
      keyId: 'laptop',
      keyPrefix: 'csk_12345678',
      completed: 1,
      errors: 1,
      inputTokens: 30,
      outputTokens: 40,
      tokensUnknown: 1,
      tokensEstimated: 2,
      cost: 0.0001,
      withoutCost: 1,
      currency: 'USD',
      credential: 'api_key',
    });
    expect(own[1]).toMatchObject({ keyId: null, credential: 'session', cost: 0.000007, withoutCost: 0 });
    // A day that has begun counts as a whole.
    expect(await ledger.reports.daily('ada', new Date(TODAY + 1), new Date(TODAY + 1))).toEqual(own);
    const all = await ledger.reports.dailyOfAll(new Date(TODAY), new Date(TODAY + DAY_MS));
    expect(all.map(({ accountId, requests }) => [accountId, requests])).toEqual([
      ['ada', 3],
      ['ada', 1],
      ['bob', 1],
    ]);
  });
});
