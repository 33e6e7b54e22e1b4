import { describe, expect, it } from 'vitest';
import { ShedLoad } from '../../src/common/shed-load.js';
import { ReportGate } from '../../src/usage/reports/report-gate.js';
import { Gate } from '../support/gate.js';

const AT_ONCE = 3;

describe('the gate of reports', () => {
  it('gives the place of a report back, also of one that fails', async () => {
    const gate = new ReportGate(new ShedLoad());
    const failing = () => Promise.reject(new Error('The database is unavailable.'));
    for (let round = 0; round < 2 * AT_ONCE; round++) {
      await expect(gate.run('ada', failing)).rejects.toThrow('The database is unavailable.');
      await new Promise(setImmediate);
    }

    await expect(gate.run('ada', () => Promise.resolve('a report'))).resolves.toBe('a report');
  });

  it('lets a report that waits begin when one before it fails', async () => {
    const gate = new ReportGate(new ShedLoad());
    const fails = new Gate();
    const running = Array.from({ length: AT_ONCE }, (_, index) =>
      gate.run(`account-${index}`, async () => {
        await fails.opened;
        throw new Error('The database is unavailable.');
      }),
    );
    const waiting = gate.run('ada', () => Promise.resolve('a report'));

    fails.open();

    expect((await Promise.allSettled(running)).map(({ status }) => status)).toEqual(Array(AT_ONCE).fill('rejected'));
    await expect(waiting).resolves.toBe('a report');
  });
});
