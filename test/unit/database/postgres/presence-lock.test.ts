import { expect, it } from 'vitest';
import { PresenceLock } from '../../../../src/database/postgres/presence-lock.js';
import type { ProbeConnection } from '../../../../src/database/postgres/probe-connection.js';

it('the lock of a connection that is lost before its answer is read is not held', async () => {
  const lock = new PresenceLock();
  let notified = 0;
  lock.onTaken.push(() => (notified += 1));
  const connection = { isLost: true, lock: () => Promise.resolve(true) };
  await lock.take(connection as unknown as ProbeConnection);
  expect([lock.held, notified]).toEqual([undefined, 0]);

  connection.isLost = false;
  await lock.take(connection as unknown as ProbeConnection);
  expect([lock.held === undefined, notified]).toEqual([false, 1]);
});
