import type { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { InterruptedStreams } from '../../../../src/usage/ledger/interrupted-streams.js';
import { StreamReceipts } from '../../../../src/plugins/reports/stream-receipts.js';
import { RecentStreams } from '../../../../src/usage/queries/recent-streams.js';
import { ROW } from '../../usage/queries/receipt-row.js';

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
