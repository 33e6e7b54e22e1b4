import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StreamLog } from '../../../src/chat/durable/log/stream-log.js';
import { LogWriter, type WriterTarget } from '../../../src/chat/durable/store/redis/log-writer.js';
import { memoryOf } from '../../contract/durable/describe-stream-store.js';

const DONE = { kind: 'done' } as const;
const KEEP_MS = 5_000;

let log: StreamLog;
let target: { [Method in keyof WriterTarget]: ReturnType<typeof vi.fn<WriterTarget[Method]>> };
let writer: LogWriter;

beforeEach(() => {
  vi.useFakeTimers();
  log = new StreamLog(memoryOf());
  target = {
    write: vi.fn<WriterTarget['write']>().mockResolvedValue('ok'),
    restore: vi.fn<WriterTarget['restore']>().mockResolvedValue('ok'),
    fenced: vi.fn<WriterTarget['fenced']>(),
    over: vi.fn<WriterTarget['over']>(),
  };
  writer = new LogWriter(log, target, KEEP_MS);
});
afterEach(() => {
  vi.useRealTimers();
});

const turn = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const isDone = (): Promise<boolean> => Promise.race([writer.done.then(() => true), turn().then(() => false)]);
const followers = (): number => (Reflect.get(log, 'listeners') as Set<unknown>).size;

/** A stream whose beginning is written. */
async function begun(): Promise<void> {
  log.begin();
  await turn();
  target.write.mockClear();
}

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
    await begun();
    log.append('Hel');
    expect((Reflect.get(writer, 'timer') as NodeJS.Timeout).hasRef()).toBe(false);
  });

  it('writes a batch at once, and does not write it again when its time comes', async () => {
    await begun();
    log.append('a');
    log.append('x'.repeat(4 * 1024 - 1));
    await turn();
    expect(target.write.mock.calls).toEqual([[0, `a${'x'.repeat(4 * 1024 - 1)}`, false]]);
    await turn(1_000);
    expect([target.write.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('writes the ending at once with the last text, and then nothing more', async () => {
    await begun();
    log.append('a');
    log.end(DONE);
    await turn();
    expect(target.write.mock.calls).toEqual([[0, 'a', true]]);
    expect([await isDone(), target.over.mock.calls.length, followers(), vi.getTimerCount()]).toEqual([true, 1, 0, 0]);
    writer.writeAnew();
    await turn(1_000);
    expect(target.write).toHaveBeenCalledTimes(1);
  });

  it('has nothing to do for a stream that ends before it begins', async () => {
    log.end(DONE);
    await turn();
    expect([await isDone(), target.write.mock.calls, target.over.mock.calls.length, followers()]).toEqual([
      true,
      [],
      1,
      0,
    ]);
  });

  it('divides long text into entries, of which the last has the ending', async () => {
    await begun();
    log.append('x'.repeat(100_000));
    log.end(DONE);
    await turn();
    expect(target.write.mock.calls.map(([offset, text, isLast]) => [offset, text.length, isLast])).toEqual([
      [0, 64 * 1024, false],
      [64 * 1024, 100_000 - 64 * 1024, true],
    ]);
  });

  it('writes one batch at a time, in order', async () => {
    await begun();
    let stored!: (state: 'ok') => void;
    target.write.mockReturnValueOnce(new Promise((resolve) => (stored = resolve)));
    log.append('a'.repeat(5_000));
    await turn();
    log.append('b'.repeat(5_000));
    await turn(1_000);
    expect(target.write).toHaveBeenCalledTimes(1);
    stored('ok');
    await turn(50);
    expect(target.write.mock.calls[1]).toEqual([5_000, 'b'.repeat(5_000), false]);
  });

  it('tries again every half second, with all that has come since', async () => {
    await begun();
    target.write.mockRejectedValueOnce(new Error('Redis is unavailable'));
    log.append('a'.repeat(5_000));
    await turn();
    log.append('b'.repeat(5_000));
    await turn(499);
    expect(target.write).toHaveBeenCalledTimes(1);
    await turn(1);
    expect(target.write.mock.calls[1]).toEqual([0, `${'a'.repeat(5_000)}${'b'.repeat(5_000)}`, false]);
  });

  it('gives up when the stream would have expired since its end', async () => {
    await begun();
    target.write.mockRejectedValue(new Error('Redis is unavailable'));
    log.end(DONE);
    await turn(KEEP_MS);
    expect(await isDone()).toBe(false);
    await turn(500);
    expect([await isDone(), target.over.mock.calls.length, vi.getTimerCount()]).toEqual([true, 1, 0]);
  });

  it('that is stopped writes nothing more, once', async () => {
    await begun();
    log.append('a');
    writer.stop();
    writer.stop();
    expect([vi.getTimerCount(), followers(), target.over.mock.calls.length]).toEqual([0, 0, 1]);
    log.append('b');
    await turn(1_000);
    expect([target.write.mock.calls.length, await isDone()]).toEqual([0, true]);
  });

  it('that is stopped during a write does not try again', async () => {
    await begun();
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
      await begun();
      log.append('abc');
    }
    await turn(50);
    target.write.mockClear();
    writer.writeAnew();
    await turn();
    expect(target.restore.mock.calls).toEqual([[state]]);
    expect(target.write.mock.calls).toEqual(hasBegun ? [[0, 'abc', false]] : []);
  });

  it('creates it anew when a write says so', async () => {
    await begun();
    target.write.mockResolvedValueOnce('gone');
    log.append('a'.repeat(5_000));
    await turn();
    expect([target.restore.mock.calls, target.write.mock.calls.length]).toEqual([[['running']], 2]);
    expect(target.write.mock.calls[1]).toEqual([0, 'a'.repeat(5_000), false]);
  });

  it('tries again where it cannot be created', async () => {
    await begun();
    target.restore.mockRejectedValueOnce(new Error('Redis is unavailable'));
    writer.writeAnew();
    await turn(499);
    expect(target.restore).toHaveBeenCalledTimes(1);
    await turn(1);
    expect(target.restore).toHaveBeenCalledTimes(2);
  });

  it('is fenced off where another replica has ended it', async () => {
    await begun();
    target.restore.mockResolvedValueOnce('ended');
    writer.writeAnew();
    await turn();
    expect([target.fenced.mock.calls.length, await isDone(), target.write.mock.calls.length]).toEqual([1, true, 0]);
  });

  it('is fenced off by a write, too', async () => {
    await begun();
    target.write.mockResolvedValueOnce('ended');
    log.append('a'.repeat(5_000));
    await turn();
    expect([target.fenced.mock.calls.length, await isDone(), target.over.mock.calls.length]).toEqual([1, true, 1]);
  });

  it('stops where the key belongs to another stream by now', async () => {
    await begun();
    target.restore.mockResolvedValueOnce('taken');
    writer.writeAnew();
    await turn();
    expect([target.fenced.mock.calls.length, await isDone()]).toEqual([0, true]);
  });
});
