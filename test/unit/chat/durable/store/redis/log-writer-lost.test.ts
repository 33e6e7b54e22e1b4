import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Latch } from '../../../../../support/latch.js';
import { turn } from '../../../../../support/moved-time.js';
import { begun, isDone, logWriter, nextWrite, type WriterStage } from './log-writers.js';

let stage: WriterStage;
let log: WriterStage['log'];
let target: WriterStage['target'];
let writer: WriterStage['writer'];

beforeEach(() => {
  stage = logWriter();
  ({ log, target, writer } = stage);
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the writer of a stream that Redis has lost', () => {
  it.each([
    ['running', true],
    ['waiting', false],
  ] as const)('creates it anew while it is %s, and writes all of it', async (state, hasBegun) => {
    if (hasBegun) {
      await begun(stage);
      log.append('abc');
    }
    await turn(50);
    target.write.mockClear();
    writer.writeAnew();
    await turn();
    expect(target.restore.mock.calls).toEqual([[state]]);
    expect(target.write.mock.calls).toEqual(hasBegun ? [[0, 'abc', false]] : []);
    expect([await isDone(stage), vi.getTimerCount()]).toEqual([false, 0]);
  });

  it('writes the beginning at once that comes after it was created anew', async () => {
    writer.writeAnew();
    await turn();
    log.begin();
    await turn();
    expect(target.write.mock.calls).toEqual([[0, '', false]]);
  });

  it('creates it anew after a write that was on its way', async () => {
    await begun(stage);
    const stored = nextWrite(stage);
    log.append('a'.repeat(5_000));
    await turn();
    writer.writeAnew();
    await turn(1_000);
    expect(target.restore).not.toHaveBeenCalled();
    stored.open();
    await turn();
    expect(target.restore.mock.calls).toEqual([['running']]);
    expect(target.write.mock.calls.slice(1)).toEqual([[0, 'a'.repeat(5_000), false]]);
  });

  it('creates it anew when a write says so', async () => {
    await begun(stage);
    target.write.mockResolvedValueOnce('gone');
    log.append('a'.repeat(5_000));
    await turn();
    expect([target.restore.mock.calls, target.write.mock.calls.length]).toEqual([[['running']], 2]);
    expect(target.write.mock.calls[1]).toEqual([0, 'a'.repeat(5_000), false]);
  });

  it('writes nothing before it is created anew', async () => {
    await begun(stage);
    const created = new Latch();
    target.write.mockResolvedValueOnce('gone');
    target.restore.mockReturnValueOnce(created.opened.then(() => 'ok'));
    log.append('a'.repeat(5_000));
    await turn(1_000);
    expect(target.write).toHaveBeenCalledTimes(1);
    created.open();
    await turn();
    expect(target.write.mock.calls[1]).toEqual([0, 'a'.repeat(5_000), false]);
  });

  it('tries again where it cannot be created', async () => {
    await begun(stage);
    target.restore.mockRejectedValueOnce(new Error('Redis is unavailable'));
    writer.writeAnew();
    await turn(499);
    expect(target.restore).toHaveBeenCalledTimes(1);
    await turn(1);
    expect(target.restore).toHaveBeenCalledTimes(2);
  });

  it('is fenced off where another replica has ended it', async () => {
    await begun(stage);
    target.restore.mockResolvedValueOnce('ended');
    writer.writeAnew();
    await turn();
    expect([target.fenced.mock.calls.length, await isDone(stage), target.write.mock.calls.length]).toEqual([
      1,
      true,
      0,
    ]);
  });

  it('is fenced off by a write, too', async () => {
    await begun(stage);
    target.write.mockResolvedValueOnce('ended');
    log.append('a'.repeat(5_000));
    await turn();
    expect([target.fenced.mock.calls.length, await isDone(stage), target.over.mock.calls.length]).toEqual([1, true, 1]);
  });

  it('stops where the key belongs to another stream by now', async () => {
    await begun(stage);
    target.restore.mockResolvedValueOnce('taken');
    writer.writeAnew();
    await turn();
    expect([target.fenced.mock.calls.length, await isDone(stage)]).toEqual([0, true]);
  });
});
