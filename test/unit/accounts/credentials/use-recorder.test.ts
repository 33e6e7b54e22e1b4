import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UseRecorder } from '../../../../src/accounts/credentials/use-recorder.js';
import { Latch } from '../../../support/latch.js';

interface Used {
  readonly id: string;
  readonly usedAt: Date;
}

class Recorder extends UseRecorder<Used> {}

type Uses = readonly (readonly [id: string, usedAt: number])[];

describe('the moments of last use', () => {
  let now: number;
  let latch: Latch | undefined;
  let fails: boolean;
  const written: Uses[] = [];
  let recorder: Recorder;

  beforeEach(() => {
    now = 1_000;
    latch = undefined;
    written.length = 0;
    recorder = new Recorder(undefined as never, 'usedAt', () => now);
    const statements = recorder as unknown as { update(uses: Uses): Promise<void> };
    vi.spyOn(statements, 'update').mockImplementation(async (uses) => {
      written.push(uses);
      await latch?.opened;
      if (fails) throw new Error('The database is unavailable.');
    });
    fails = false;
  });
  afterEach(async () => {
    await recorder.beforeApplicationShutdown();
  });

  it('that come while an earlier one is written are written afterwards', async () => {
    latch = new Latch();
    recorder.touch('key');
    const flushed = recorder.flush();
    await new Promise(setImmediate);
    now = 2_000;
    recorder.touch('key');
    latch.open();
    await flushed;

    await recorder.flush();

    expect(written).toEqual([[['key', 1_000]], [['key', 2_000]]]);
  });

  it('wait while an earlier statement has no answer', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    latch = new Latch();
    recorder.touch('key');
    await vi.advanceTimersByTimeAsync(1_000);
    recorder.touch('other');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(written).toEqual([[['key', 1_000]]]);
    latch.open();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written).toEqual([[['key', 1_000]], [['other', 1_000]]]);
  });

  it('are recorded for at most 100,000 credentials until they are written', async () => {
    for (let number = 0; number < 100_001; number++) recorder.touch(`key ${number}`);
    await recorder.flush();
    expect(written.flat()).toHaveLength(100_000);
    recorder.touch('key 100000');
    await recorder.flush();
    expect(written.at(-1)).toEqual([['key 100000', 1_000]]);
  });
});
