import { describe, expect, it } from 'vitest';
import { ShedLoad } from '../../../../src/platform/common/shed-load.js';
import { ReceiptSemaphore } from '../../../../src/usage/receipts/stream-receipts.js';
import { Latch } from '../../../support/latch.js';

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
