import { beforeEach, describe, expect, it } from 'vitest';
import { SinkPositions } from '../../../src/accounts/audit/audit-delivery.js';
import { AtomicStatements } from '../../../src/platform/database/queries/atomic-statements.js';
import { testEngines } from '../../support/database.js';
import { ledgerSuite } from '../usage/ledger-suite.js';

const SECOND = 1_000;
const SINK = 'siem';
const [EARLY, LATE] = ['2026-11-27T00:00:00.000Z', '2026-11-27T00:00:01.000Z'];

describe.each(await testEngines())('the position of an audit sink on $name', (engine) => {
  const ledger = ledgerSuite(engine);
  let first: SinkPositions;
  let second: SinkPositions;
  let now: number;

  beforeEach(async () => {
    now = Date.parse(LATE);
    [first, second] = [1, 2].map(() => new SinkPositions(new AtomicStatements(ledger.source))) as [
      SinkPositions,
      SinkPositions,
    ];
    expect(await first.lease(SINK, now)).toBe('');
    expect(await first.advance(SINK, EARLY, now)).toBe(true);
  });

  it('belongs to one replica, and to another one 30 seconds after its last sign', async () => {
    now += 20 * SECOND;
    expect(await first.lease(SINK, now)).toBe(EARLY);
    expect(await second.lease(SINK, now + 30 * SECOND)).toBeUndefined();
    expect(await second.lease(SINK, now + 30 * SECOND + 1)).toBe(EARLY);
  });

  it('is not moved and not released by a replica that has lost it', async () => {
    now += 31 * SECOND;
    expect(await second.lease(SINK, now)).toBe(EARLY);
    expect(await first.advance(SINK, LATE, now)).toBe(false);
    await first.release(SINK);
    expect(await first.lease(SINK, now)).toBeUndefined();
    expect(await second.lease(SINK, now)).toBe(EARLY);

    await second.release(SINK);
    expect(await first.lease(SINK, now)).toBe(EARLY);
  });
});
