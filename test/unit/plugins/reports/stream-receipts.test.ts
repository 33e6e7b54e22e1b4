import type { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ShedLoad } from '../../../../src/platform/common/shed-load.js';
import type { InterruptedStreams } from '../../../../src/usage/ledger/interrupted-streams.js';
import { ReceiptSemaphore, StreamReceipts } from '../../../../src/plugins/reports/stream-receipts.js';
import { RecentStreams } from '../../../../src/usage/queries/recent-streams.js';
import { ROW } from '../../usage/queries/receipt-row.js';
import { Latch } from '../../../support/latch.js';

describe('the receipts of an account', () => {
  const query = vi.fn<(text: string, values: unknown[]) => Promise<(typeof ROW)[]>>();
  const checkSoon = vi.fn<() => Promise<void>>();
  let receipts: StreamReceipts;

  beforeEach(() => {
    vi.useFakeTimers();
    query.mockReset().mockResolvedValue([]);
    checkSoon.mockReset().mockResolvedValue();
    const database = { options: { type: 'postgres' }, query } as unknown as DataSource;
    receipts = new StreamReceipts(new RecentStreams(database), { checkSoon } as unknown as InterruptedStreams);
  });

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
