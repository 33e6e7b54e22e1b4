import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UseRecorder } from '../../src/accounts/credentials/use-recorder.js';
import { Gate } from '../support/gate.js';

interface Used {
  readonly id: string;
  readonly usedAt: Date;
}

class Recorder extends UseRecorder<Used> {}

type Uses = readonly (readonly [id: string, usedAt: number])[];

describe('the moments of last use', () => {
  let now: number;
  let gate: Gate | undefined;
  const written: Uses[] = [];
  let recorder: Recorder;

  beforeEach(() => {
    now = 1_000;
    gate = undefined;
    written.length = 0;
    recorder = new Recorder(undefined as never, 'usedAt', () => now);
    const statements = recorder as unknown as { update(uses: Uses): Promise<void> };
    vi.spyOn(statements, 'update').mockImplementation(async (uses) => {
      written.push(uses);
      await gate?.opened;
    });
  });
  afterEach(() => recorder.beforeApplicationShutdown());

  it('that come while an earlier one is written are written afterwards', async () => {
    gate = new Gate();
    recorder.touch('key');
    const flushed = recorder.flush();
    await new Promise(setImmediate);
    now = 2_000;
    recorder.touch('key');
    gate.open();
    await flushed;

    await recorder.flush();

    expect(written).toEqual([[['key', 1_000]], [['key', 2_000]]]);
  });

  it('are written by one statement at a time, also when the process stops', async () => {
    gate = new Gate();
    recorder.touch('key');
    const flushed = recorder.flush();
    await new Promise(setImmediate);

    const stopped = recorder.beforeApplicationShutdown();
    await new Promise(setImmediate);
    expect(written).toHaveLength(1);
    gate.open();
    await Promise.all([flushed, stopped]);

    expect(written).toEqual([[['key', 1_000]]]);
  });

  it('are remembered for a bounded number of credentials', async () => {
    const touchMany = async (name: string) => {
      for (let number = 0; number < 100_000; number++) recorder.touch(`${name} ${number}`);
      await recorder.flush();
    };
    await touchMany('first');
    await touchMany('second');

    const { writtenAt } = recorder as unknown as { writtenAt: ReadonlyMap<string, number> };
    expect(writtenAt.size).toBe(100_000);
    expect(writtenAt.has('second 99999')).toBe(true);
    expect(writtenAt.has('first 0')).toBe(false);
  });
});
