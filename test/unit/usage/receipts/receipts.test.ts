import type { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import { ShedLoad } from '../../../../src/common/shed-load.js';
import type { InterruptedStreams } from '../../../../src/usage/ledger/interrupted-streams.js';
import { ReceiptSemaphore } from '../../../../src/usage/receipts/receipt-semaphore.js';
import { receiptOf, type ReceiptRow } from '../../../../src/usage/receipts/receipt-row.js';
import { ReceiptsController } from '../../../../src/usage/receipts/receipts.controller.js';
import { StreamReceipts } from '../../../../src/usage/receipts/stream-receipts.js';
import { Latch } from '../../../support/latch.js';

const ROW: ReceiptRow = {
  request_id: 'r-1',
  model: 'acme/fast',
  attempt_details: '[{"upstream":"acme","duration_ms":7}]',
  started_at: '2026-11-22T11:03:43.201Z',
  first_text_at: '2026-11-22T11:03:43.479Z',
  ended_at: '2026-11-22T11:03:44.020Z',
  outcome: 'completed',
  finish_reason: 'stop',
  prompt_tokens: '100',
  prompt_tokens_source: 'reported',
  cached_prompt_tokens: '40',
  cache_write_prompt_tokens: 8,
  completion_tokens: 10,
  completion_tokens_source: 'reported',
  reasoning_completion_tokens: '4',
  tool_calls: '2',
  cost_micros: 288,
  currency: 'EUR',
};

describe('a receipt', () => {
  it('has the figures of its record', () => {
    expect(receiptOf(ROW)).toEqual({
      request_id: 'r-1',
      model: 'acme/fast',
      outcome: 'completed',
      finish_reason: 'stop',
      started_at: ROW.started_at,
      first_text_at: ROW.first_text_at,
      ended_at: ROW.ended_at,
      tokens: {
        input: 100,
        cached_input: 40,
        cache_write_input: 8,
        output: 10,
        reasoning_output: 4,
        source: 'reported',
      },
      tool_calls: 2,
      cost: 0.000288,
      currency: 'EUR',
      attempts: [{ upstream: 'acme', duration_ms: 7 }],
    });
  });

  it('says of each figure that it is not known, and never 0', () => {
    const unknown = {
      ...{ prompt_tokens: null, cached_prompt_tokens: null, cache_write_prompt_tokens: null },
      ...{ completion_tokens: null, reasoning_completion_tokens: null },
      ...{ tool_calls: null, cost_micros: null, currency: null, attempt_details: null },
    };
    expect(receiptOf({ ...ROW, ...unknown })).toMatchObject({
      tokens: {
        ...{ input: null, cached_input: null, cache_write_input: null, output: null, reasoning_output: null },
        source: 'unknown',
      },
      tool_calls: null,
      cost: null,
      attempts: [],
    });
    expect(receiptOf({ ...ROW, cost_micros: 0, prompt_tokens: 0 })).toMatchObject({ cost: 0, tokens: { input: 0 } });
  });

  it.each([
    ['reported', 'reported', 'reported'],
    ['reported', 'estimated', 'estimated'],
    ['estimated', 'reported', 'estimated'],
    ['estimated', 'estimated', 'estimated'],
  ])('with counts that are %s and %s has tokens that are %s', (input, output, source) => {
    const row = { ...ROW, prompt_tokens_source: input, completion_tokens_source: output };
    expect(receiptOf(row).tokens.source).toBe(source);
  });

  it.each([
    ['reported', 'reported'],
    ['estimated', 'estimated'],
  ])('with one known count, that is %s, has tokens that are %s', (known, source) => {
    const input = { ...ROW, completion_tokens: null, prompt_tokens_source: known, completion_tokens_source: 'other' };
    const output = { ...ROW, prompt_tokens: null, completion_tokens_source: known, prompt_tokens_source: 'other' };
    expect([receiptOf(input).tokens.source, receiptOf(output).tokens.source]).toEqual([source, source]);
  });
});

describe('the lookups of receipts', () => {
  it('are limited to 20 at a time for one account, and not for another one', async () => {
    const shedLoad = new ShedLoad();
    const semaphore = new ReceiptSemaphore(shedLoad);
    const latch = new Latch();
    const running = Array.from({ length: 20 }, () => semaphore.run('ada', () => latch.opened));
    await expect(semaphore.run('ada', () => latch.opened)).rejects.toMatchObject({
      code: 'concurrency_limit_exceeded',
      message: 'An account can request at most 20 receipts at the same time.',
      retryAfterSeconds: 1,
    });
    expect(new Map(shedLoad.counts).get('usage_reports')).toBe(1);
    await expect(semaphore.run('bob', () => Promise.resolve('found'))).resolves.toBe('found');
    latch.open();
    await Promise.all(running);
    await expect(semaphore.run('ada', () => Promise.resolve('found'))).resolves.toBe('found');
  });
});

describe('the receipts of an account', () => {
  const query = vi.fn<(text: string, values: unknown[]) => Promise<ReceiptRow[]>>();
  const checkSoon = vi.fn<() => Promise<void>>();
  let receipts: StreamReceipts;

  beforeEach(() => {
    vi.useFakeTimers();
    query.mockReset().mockResolvedValue([]);
    checkSoon.mockReset().mockResolvedValue();
    const database = { options: { type: 'postgres' }, query } as unknown as DataSource;
    receipts = new StreamReceipts(database, { checkSoon } as unknown as InterruptedStreams);
  });
  afterEach(() => vi.useRealTimers());

  it('are the latest of their request id, and of no other account', async () => {
    query.mockResolvedValueOnce([ROW]);
    expect(await receipts.find('ada', 'r-1\0')).toMatchObject({ request_id: 'r-1' });
    const [text, values] = query.mock.calls[0] ?? [];
    expect(text).toContain('ORDER BY account_id DESC, request_id DESC, id DESC LIMIT 1');
    expect(text).toContain('WHERE account_id = $1 AND request_id = $2');
    expect(values).toEqual(['ada', 'r-1\ufffd']);
    expect(checkSoon).not.toHaveBeenCalled();
  });

  it('may be on their way: they are looked for again after 150 ms, when killed processes were looked for, too', async () => {
    let looked!: () => void;
    checkSoon.mockReturnValue(new Promise((resolve) => (looked = resolve)));
    const found = receipts.find('ada', 'r-1');
    await vi.advanceTimersByTimeAsync(149);
    looked();
    await vi.advanceTimersByTimeAsync(0);
    expect(query).toHaveBeenCalledTimes(1);
    query.mockResolvedValueOnce([ROW]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await found).toMatchObject({ request_id: 'r-1' });
    expect(query).toHaveBeenCalledTimes(2);
  });

  it('are read no earlier than the check for killed processes has ended', async () => {
    let looked!: () => void;
    checkSoon.mockReturnValue(new Promise((resolve) => (looked = resolve)));
    const found = receipts.find('ada', 'r-1');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(query).toHaveBeenCalledTimes(1);
    looked();
    expect(await found).toBeUndefined();
    expect(query).toHaveBeenCalledTimes(2);
  });

  it('are unavailable with the database', async () => {
    query.mockRejectedValue(new Error('connect ECONNREFUSED'));
    await expect(receipts.find('ada', 'r-1')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('are looked up within the limits of their account, or not found', async () => {
    vi.useRealTimers();
    const semaphore = new ReceiptSemaphore(new ShedLoad());
    const passed = vi.spyOn(semaphore, 'run');
    const controller = new ReceiptsController(receipts, semaphore);
    const ada = { accountId: 'ada' } as Principal;
    query.mockResolvedValueOnce([ROW]);
    expect(await controller.receipt(ada, 'r-1')).toMatchObject({ request_id: 'r-1' });
    await expect(controller.receipt(ada, 'r-2')).rejects.toMatchObject({
      code: 'not_found',
      message: 'There is no receipt for this request id. A running stream has no receipt yet.',
    });
    expect(passed.mock.calls.map(([account]) => account)).toEqual(['ada', 'ada']);
  });
});
