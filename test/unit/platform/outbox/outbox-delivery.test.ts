import { describe, expect, it, vi } from 'vitest';
import { OutboxDelivery } from '../../../../src/platform/outbox/outbox-delivery.js';
import type { OutboxEntries } from '../../../../src/platform/outbox/outbox-entries.js';
import { DELIVERED_RECORDS } from '../../../../src/usage/usage-feeds.js';
import { Latch } from '../../../support/latch.js';
import { waitFor } from '../../../support/wait-for.js';

const TABLE = {
  name: 'audit_entries' as const,
  columns: ['id'],
  subscribers: { kind: 'audit sink', names: /^[\w.-]{1,100}$/, rule: '1 to 100 letters' },
  rowsAtOnce: 100,
  isFromBeginning: true,
  rowsOf: (rows: readonly unknown[]) => rows,
};

describe('the delivery of the outbox', () => {
  it.each([
    [['siem', 'siem'], 'two have "siem"'],
    [[''], 'must be 1 to 100 letters'],
    [['two words'], 'must be 1 to 100 letters'],
  ])('refuses subscribers with the names %j', async (names, problem) => {
    const subscribers = names.map((name) => ({ name, deliver: () => Promise.resolve() }));
    const delivery = new OutboxDelivery({} as OutboxEntries, Date.now);
    await expect(delivery.begin(TABLE, subscribers)).rejects.toThrow(problem);
  });

  it.each(['Acme', 'acme_billing', '1-acme'])('refuses the usage feed %s', async (name) => {
    const delivery = new OutboxDelivery({} as OutboxEntries, Date.now);
    const feeds = [{ name, deliver: () => Promise.resolve() }];
    await expect(delivery.begin(DELIVERED_RECORDS, feeds)).rejects.toThrow('must be lower-case letters');
  });

  it('begins no delivery after the process has begun to stop', async () => {
    const deliver = vi.fn(() => Promise.resolve());
    const read = new Latch();
    const next = vi.fn(async () => {
      await read.opened;
      return [{ position: '', rowId: 'row', changes: 0, row: {} }];
    });
    const [register, removeUnseen, release] = Array.from({ length: 3 }, () => () => Promise.resolve());
    const yes = () => Promise.resolve(true);
    const entries = { register, removeUnseen, release, own: yes, addHistory: yes, next };
    const delivery = new OutboxDelivery(entries as unknown as OutboxEntries, Date.now);
    await delivery.begin(TABLE, [{ name: 'siem', deliver }]);
    await waitFor(() => next.mock.calls.length > 0 || undefined, 'the rows to be read');
    const stopped = delivery.beforeApplicationShutdown();
    read.open();
    await stopped;
    expect(deliver).not.toHaveBeenCalled();
  });
});
