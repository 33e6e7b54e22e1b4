import { beforeEach, describe, expect, it, vi } from 'vitest';
import { turn } from '../../../../../support/moved-time.js';
import { begun, isDone, KEEP_MS, logWriter, nextWrite, type WriterStage } from './log-writers.js';
import { Latch } from '../../../../../support/latch.js';

const DONE = { kind: 'done' } as const;

let stage: WriterStage;
let log: WriterStage['log'];
let target: WriterStage['target'];
let writer: WriterStage['writer'];

beforeEach(() => {
  stage = logWriter();
  ({ log, target, writer } = stage);
});

const followers = (): number => (Reflect.get(log, 'listeners') as Set<unknown>).size;

describe('the writer of a stream', () => {
  it('writes the beginning at once, small texts after 50 ms, and each text once', async () => {
    log.begin();
    await turn();
    expect(target.write.mock.calls).toEqual([[0, '', false]]);
    log.append('Hel');
    await turn(49);
    log.append('lo');
    expect(target.write).toHaveBeenCalledTimes(1);
    await turn(1);
    expect(target.write.mock.calls.slice(1)).toEqual([[0, 'Hello', false]]);
    log.append('!');
    await turn(50);
    expect(target.write.mock.calls.slice(2)).toEqual([[5, '!', false]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not keep the process alive while it waits for more', async () => {
    await begun(stage);
    log.append('Hel');
    expect((Reflect.get(writer, 'timer') as NodeJS.Timeout).hasRef()).toBe(false);
  });

  it('writes a batch at once, and does not write it again when its time comes', async () => {
    await begun(stage);
    log.append('a');
    log.append('x'.repeat(4 * 1024 - 1));
    await turn();
    expect(target.write.mock.calls).toEqual([[0, `a${'x'.repeat(4 * 1024 - 1)}`, false]]);
    await turn(1_000);
    expect([target.write.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('writes all batches of one turn at once, and small texts after them in 50 ms again', async () => {
    await begun(stage);
    log.append('a'.repeat(5_000));
    log.append('b'.repeat(5_000));
    await turn();
    expect(target.write.mock.calls).toEqual([[0, `${'a'.repeat(5_000)}${'b'.repeat(5_000)}`, false]]);
    log.append('c');
    await turn(49);
    expect(target.write).toHaveBeenCalledTimes(1);
    await turn(1);
    expect(target.write.mock.calls.slice(1)).toEqual([[10_000, 'c', false]]);
  });

  it('writes the ending at once with the last text, and then nothing more', async () => {
    await begun(stage);
    log.append('a');
    log.end(DONE);
    await turn();
    expect(target.write.mock.calls).toEqual([[0, 'a', true]]);
    expect([await isDone(stage), target.over.mock.calls.length, followers(), vi.getTimerCount()]).toEqual([
      true,
      1,
      0,
      0,
    ]);
    writer.writeAnew();
    await turn(1_000);
    expect(target.write).toHaveBeenCalledTimes(1);
  });

  it('has nothing to do for a stream that ends before it begins', async () => {
    log.end(DONE);
    await turn();
    expect([await isDone(stage), target.write.mock.calls, target.over.mock.calls.length, followers()]).toEqual([
      true,
      [],
      1,
      0,
    ]);
  });

  it('divides long text into entries, of which the last has the ending', async () => {
    await begun(stage);
    log.append('x'.repeat(10_000));
    log.append('x'.repeat(90_000));
    log.end(DONE);
    await turn();
    expect(target.write.mock.calls.map(([offset, text, isLast]) => [offset, text.length, isLast])).toEqual([
      [0, 64 * 1024, false],
      [64 * 1024, 100_000 - 64 * 1024, true],
    ]);
  });

  it('divides no character at the end of an entry', async () => {
    await begun(stage);
    log.append('x'.repeat(64 * 1024 - 1));
    log.append('🦊');
    log.end(DONE);
    await turn();
    expect(target.write.mock.calls).toEqual([
      [0, 'x'.repeat(64 * 1024 - 1), false],
      [64 * 1024 - 1, '🦊', true],
    ]);
  });

  it.each([
    ['a batch', 'a'.repeat(5_000), 0],
    ['a small text', 'a', 50],
  ])('writes one batch at a time, in order, also after %s', async (_, text, afterMs) => {
    await begun(stage);
    const stored = nextWrite(stage);
    log.append(text);
    await turn(afterMs);
    log.append('b'.repeat(5_000));
    await turn(1_000);
    expect(target.write).toHaveBeenCalledTimes(1);
    stored.open();
    await turn(50);
    expect(target.write.mock.calls[1]).toEqual([text.length, 'b'.repeat(5_000), false]);
  });

  it('writes an ending that came during a write', async () => {
    await begun(stage);
    const stored = nextWrite(stage);
    log.append('a'.repeat(5_000));
    await turn();
    log.end(DONE);
    stored.open();
    await turn();
    expect(target.write.mock.calls.slice(1)).toEqual([[5_000, '', true]]);
    expect(await isDone(stage)).toBe(true);
  });

  it('tries again every half second, with all that has come since', async () => {
    await begun(stage);
    target.write.mockRejectedValueOnce(new Error('Redis is unavailable'));
    log.append('a'.repeat(5_000));
    await turn();
    log.append('b'.repeat(5_000));
    await turn(499);
    expect(target.write).toHaveBeenCalledTimes(1);
    await turn(1);
    expect(target.write.mock.calls[1]).toEqual([0, `${'a'.repeat(5_000)}${'b'.repeat(5_000)}`, false]);
    log.append('c'.repeat(5_000));
    await turn();
    expect(target.write.mock.calls[2]).toEqual([10_000, 'c'.repeat(5_000), false]);
  });

  it('tries again for as long as the stream runs', async () => {
    await begun(stage);
    target.write.mockRejectedValue(new Error('Redis is unavailable'));
    log.append('a'.repeat(5_000));
    await turn(2 * KEEP_MS);
    expect(await isDone(stage)).toBe(false);
    target.write.mockReset().mockResolvedValue('ok');
    log.end(DONE);
    await turn(500);
    expect([target.write.mock.calls, await isDone(stage)]).toEqual([[[0, 'a'.repeat(5_000), true]], true]);
  });

  it('stops when the stream would have expired since its end', async () => {
    await begun(stage);
    await turn(2 * KEEP_MS);
    target.write.mockRejectedValue(new Error('Redis is unavailable'));
    log.end(DONE);
    await turn(KEEP_MS);
    expect(await isDone(stage)).toBe(false);
    await turn(500);
    expect([await isDone(stage), target.over.mock.calls.length, vi.getTimerCount()]).toEqual([true, 1, 0]);
  });

  it('that is stopped writes nothing more, once', async () => {
    await begun(stage);
    log.append('a');
    writer.stop();
    writer.stop();
    expect([vi.getTimerCount(), followers(), target.over.mock.calls.length]).toEqual([0, 0, 1]);
    log.append('b');
    await turn(1_000);
    expect([target.write.mock.calls.length, await isDone(stage)]).toEqual([0, true]);
  });

  it('that is stopped during a write does not try again', async () => {
    await begun(stage);
    let fail!: (error: Error) => void;
    target.write.mockReturnValueOnce(new Promise((_, reject) => (fail = reject)));
    log.append('a'.repeat(5_000));
    await turn();
    writer.stop();
    fail(new Error('Redis is unavailable'));
    await turn(10_000);
    expect([target.write.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
  });
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
