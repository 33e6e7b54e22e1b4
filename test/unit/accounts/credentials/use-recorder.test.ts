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
    vi.useRealTimers();
  });

  it('do not keep the process alive', () => {
    recorder.touch('key');
    expect((Reflect.get(recorder, 'timer') as NodeJS.Timeout).hasRef()).toBe(false);
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

  it('are written by one statement at a time, also when the process stops', async () => {
    latch = new Latch();
    recorder.touch('key');
    const flushed = recorder.flush();
    await new Promise(setImmediate);

    const stopped = recorder.beforeApplicationShutdown();
    await new Promise(setImmediate);
    expect(written).toHaveLength(1);
    latch.open();
    await Promise.all([flushed, stopped]);

    expect(written).toEqual([[['key', 1_000]]]);
  });

  it('are written once a minute while a credential is in use, and the timer ends with the last of them', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const second = async () => {
      now += 1_000;
      await vi.advanceTimersByTimeAsync(1_000);
    };
    recorder.touch('key');
    await second();
    expect([written.length, vi.getTimerCount()]).toEqual([1, 0]);
    recorder.touch('key');
    for (let seconds = 1; seconds < 60; seconds++) await second();
    expect([written.length, vi.getTimerCount()]).toEqual([1, 1]);
    await second();
    expect(written).toEqual([[['key', 1_000]], [['key', 2_000]]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that a failed statement has not written are written a second later', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    fails = true;
    recorder.touch('key');
    await vi.advanceTimersByTimeAsync(1_000);
    fails = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written).toEqual([[['key', 1_000]], [['key', 1_000]]]);
    expect(vi.getTimerCount()).toBe(0);
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

  it('that cannot be written when the process stops keep no timer', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    fails = true;
    recorder.touch('key');
    await recorder.beforeApplicationShutdown();
    expect(vi.getTimerCount()).toBe(0);
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
