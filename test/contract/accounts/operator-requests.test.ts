import { describe, expect, it } from 'vitest';
import { OperatorRequests } from '../../../src/accounts/operator-keys/operator-requests.js';
import { testEngines } from '../../support/database.js';
import { accountsSuite } from './accounts-app.js';

const DAY_MS = 86_400_000;

describe.each(await testEngines())('repeated requests of operators on $name', (engine) => {
  let now = Date.parse('2026-11-27T00:00:00Z');
  const suite = accountsSuite(engine, { now: () => now });
  const claim = (content = 'create ada', operatorKey = 'csk_op_1') =>
    suite.get(OperatorRequests).claim({ operatorKey, idempotencyKey: 'key-1', content });

  it('are recognized for 24 hours, by the operator key and the content', async () => {
    const first = await claim();
    now += DAY_MS;
    expect([first.isFirst, await claim()]).toMatchObject([true, { isFirst: false, createdId: first.createdId }]);
    await expect(claim('create bob')).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect(await claim('create bob', 'csk_op_2')).toMatchObject({ isFirst: true });
    now += 1;
    expect(await claim('create bob')).toMatchObject({ isFirst: true });
  });

  it('are the first again when the first has created nothing', async () => {
    now += 2 * DAY_MS;
    const first = await claim();
    await first.release();
    expect([first.isFirst, await claim()]).toMatchObject([true, { isFirst: true }]);
  });
});
