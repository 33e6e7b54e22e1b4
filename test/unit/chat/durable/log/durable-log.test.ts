import { beforeEach, describe, expect, it, vi } from 'vitest';
import { LogReader } from '../../../../../src/chat/durable/log/log-reader.js';
import { StreamLog } from '../../../../../src/chat/durable/log/stream-log.js';
import { StreamMemory } from '../../../../../src/chat/durable/log/stream-memory.js';
import { ShedLoad } from '../../../../../src/common/shed-load.js';

const DONE = { kind: 'done' } as const;
const FAILED = { kind: 'failed', code: 'upstream_error', message: 'It failed.' } as const;
/** What a stream without text takes. */
const EMPTY = 1_024;
const FOX = '🦊';

let memory: StreamMemory;
let shedLoad: ShedLoad;
let log: StreamLog;

beforeEach(() => {
  shedLoad = new ShedLoad();
  memory = new StreamMemory({ streamMemoryBytes: 100_000 }, shedLoad);
  log = new StreamLog(memory);
});

describe('the log of a stream', () => {
  it('begins once, and notifies its followers', async () => {
    const heard = vi.fn();
    log.follow(heard);
    expect(log.hasBegun).toBe(false);
    log.begin();
    log.begin();
    await log.begun;
    expect([log.hasBegun, heard.mock.calls.length]).toEqual([true, 1]);
  });

  it('that is abandoned reports the reason to the requests that wait, unless it has begun', async () => {
    const reason = new Error('No.');
    log.abandon(reason);
    await expect(log.begun).rejects.toBe(reason);
    const begun = new StreamLog(memory);
    begun.begin();
    begun.abandon(reason);
    await expect(begun.begun).resolves.toBeUndefined();
  });

  it('counts units and bytes', () => {
    log.append('é');
    log.append(FOX);
    expect([log.length, log.bytes]).toEqual([3, 6]);
  });

  it('accepts nothing after its end, and no empty text, and notifies no follower of it', () => {
    const heard = vi.fn();
    log.append('a');
    log.follow(heard);
    log.append('');
    expect(heard).not.toHaveBeenCalled();
    log.end(DONE);
    log.append('b');
    log.end(FAILED);
    expect([log.read(0, 10), log.ending, log.length, heard.mock.calls.length]).toEqual(['a', DONE, 1, 1]);
  });

  it('notifies its followers until they have enough', () => {
    const [one, other] = [vi.fn(), vi.fn()];
    const enough = log.follow(one);
    log.follow(other);
    log.append('a');
    enough();
    log.append('b');
    expect([one.mock.calls.length, other.mock.calls.length]).toEqual([1, 2]);
  });

  it('is read from any offset, in pieces of any length', () => {
    const text = Array.from({ length: 3_000 }, (_, index) => `${index} `).join('');
    for (let start = 0; start < text.length; start += 700) log.append(text.slice(start, start + 700));
    for (const offset of [0, 1, 4_095, 4_096, 4_199, 4_200, 4_201, 8_400, text.length - 1]) {
      expect(text.slice(offset)).toMatch(new RegExp(`^${log.read(offset, 50)}`));
    }
    expect(log.read(text.length, 5)).toBeUndefined();
    let all = '';
    for (let more = log.read(0, 999); more !== undefined; more = log.read(all.length, 999)) all += more;
    expect(all).toBe(text);
  });

  it('joins small texts up to 4,096 units, and no further', () => {
    log.append('a'.repeat(4_000));
    log.append('b'.repeat(96));
    log.append('c');
    expect(log.read(0, 10_000)).toHaveLength(4_096);
    expect(log.read(4_096, 10_000)).toBe('c');
    expect(log.read(4_095, 10_000)).toBe('b');
  });

  it('divides no character, except one that came divided or is alone', () => {
    log.append(`a${FOX}b`);
    expect([log.read(0, 2), log.read(0, 3), log.read(1, 2)]).toEqual(['a', `a${FOX}`, FOX]);
    log.append(`cd${FOX}e`);
    expect(log.read(4, 3)).toBe('cd');
    // A reader that asks for one unit gets on.
    expect(log.read(1, 1)).toBe(FOX.charAt(0));
    const divided = new StreamLog(memory);
    divided.append(`x${FOX.charAt(0)}`);
    expect(divided.read(0, 2)).toBe(`x${FOX.charAt(0)}`);
  });

  it('knows where its characters begin', () => {
    log.append(`a${FOX}`);
    expect([0, 1, 2, 3, 9].map((offset) => log.isBoundary(offset))).toEqual([true, true, false, true, true]);
    const alone = new StreamLog(memory);
    alone.append('\ud83e\ud83ea\udd8a\udd8a');
    expect([1, 2, 3, 4].map((offset) => alone.isBoundary(offset))).toEqual([true, true, true, true]);
  });

  it.each(['\u{10000}', '\u{10ffff}'])(
    'knows the first and the last characters of two units, such as %j',
    (character) => {
      log.append(`a${character}b`);
      expect([log.read(0, 2), log.read(0, 3)]).toEqual(['a', `a${character}`]);
      expect([1, 2, 3].map((offset) => log.isBoundary(offset))).toEqual([true, false, true]);
    },
  );

  it('counts the character after the surrogates as one unit', () => {
    log.append('\ud83e\ue000');
    expect(log.isBoundary(1)).toBe(true);
  });
});

describe('the memory of durable streams', () => {
  it('is reserved for a stream, for its request until the first text, and for its text in UTF-8', () => {
    const stream = new StreamLog(memory, 300);
    expect(memory.used).toBe(2 * EMPTY + 300);
    stream.begin();
    expect(memory.used).toBe(2 * EMPTY + 300);
    stream.append('é'.repeat(10));
    expect(memory.used).toBe(2 * EMPTY + 20);
    stream.end(DONE);
    expect(memory.used).toBe(2 * EMPTY + 20);
    stream.release();
    stream.release();
    expect(memory.used).toBe(EMPTY);
    expect(stream.read(0, 2)).toBe('éé');
  });

  it('of a request is released by a stream that ends without a text', () => {
    new StreamLog(memory, 300).end(FAILED);
    expect(memory.used).toBe(2 * EMPTY);
  });

  it('is released whole for a stream that ends after it was released', () => {
    const stream = new StreamLog(memory, 300);
    stream.release();
    stream.end(DONE);
    expect(memory.used).toBe(EMPTY);
  });

  it('may be filled to the last byte, and refuses one more, with nothing reserved', () => {
    log.append('x'.repeat(100_000 - EMPTY));
    expect(memory.used).toBe(100_000);
    expect(() => {
      log.append('y');
    }).toThrow(
      expect.objectContaining({
        code: 'unavailable',
        message: 'This process cannot keep more text of durable streams. Try again.',
        retryAfterSeconds: 5,
      }),
    );
    expect([memory.used, log.length, new Map(shedLoad.counts).get('stream_memory')]).toEqual([
      100_000,
      100_000 - EMPTY,
      1,
    ]);
  });
});

describe('a reader of a log', () => {
  const FAILURE = new Error('Stop.');
  const readerAt = (offset: number): LogReader => new LogReader(log, 'tag', offset);

  it('reads what is there, then what comes, with positions', () => {
    log.append('Hello');
    const reader = readerAt(1);
    const heard = vi.fn();
    reader.onReadable = heard;
    expect(reader.position).toBe('tag-1');
    expect([reader.read(), reader.position]).toEqual([{ type: 'text', text: 'ello' }, 'tag-5']);
    expect([reader.read(), reader.isOver]).toEqual([undefined, false]);
    log.append('!'.repeat(40));
    expect(heard).toHaveBeenCalledTimes(1);
    expect([reader.read(), reader.position]).toEqual([{ type: 'text', text: '!'.repeat(40) }, 'tag-19']);
  });

  it('gets at most 16 Ki units in an event', () => {
    log.append('x'.repeat(16 * 1024 + 1));
    const reader = readerAt(0);
    expect([reader.read()?.text.length, reader.read()?.text.length]).toEqual([16 * 1024, 1]);
  });

  it('begins after a character that its position divides', () => {
    log.append(`a${FOX}b`);
    expect(readerAt(2).read()).toEqual({ type: 'text', text: 'b' });
  });

  it('is over when it has read all of an answer that is done', () => {
    log.append('ab');
    const reader = readerAt(0);
    log.end(DONE);
    expect([reader.isOver, reader.isWhole]).toEqual([false, false]);
    reader.read();
    expect([reader.read(), reader.isOver, reader.isWhole]).toEqual([undefined, true, true]);
  });

  it('is over where it begins at the end, or behind it', () => {
    log.append('ab');
    log.end(DONE);
    expect([readerAt(2).isOver, readerAt(3).isOver, readerAt(9).read()]).toEqual([true, true, undefined]);
  });

  it('gets the text before the failure of an answer', () => {
    log.append('ab');
    log.end(FAILED);
    const reader = readerAt(0);
    expect(reader.read()).toEqual({ type: 'text', text: 'ab' });
    expect(reader.isOver).toBe(false);
    expect(() => reader.read()).toThrow(expect.objectContaining({ code: 'upstream_error', message: 'It failed.' }));
  });

  it('can be ended by itself, with the first reason, whatever the answer does', () => {
    const reader = readerAt(0);
    const heard = vi.fn();
    reader.onReadable = heard;
    reader.fail(FAILURE);
    reader.fail(new Error('later'));
    log.end(DONE);
    expect(heard).toHaveBeenCalledTimes(3);
    expect(reader.isOver).toBe(false);
    expect(() => reader.read()).toThrow(FAILURE);
    expect(readerAt(0).isOver).toBe(true);
  });

  it('of an evicted stream gets an error, unless it has read everything', () => {
    log.append('ab');
    const [behind, whole] = [readerAt(0), readerAt(0)];
    whole.read();
    log.end(DONE);
    const heard = vi.fn();
    behind.onReadable = heard;
    log.evict();
    expect(heard).toHaveBeenCalledTimes(1);
    expect(() => behind.read()).toThrow(expect.objectContaining({ code: 'unavailable' }));
    expect([whole.read(), whole.isOver]).toEqual([undefined, true]);
  });

  it('receives nothing after it has left', async () => {
    const reader = readerAt(0);
    const heard = vi.fn();
    reader.onReadable = heard;
    await reader.return();
    log.append('a');
    expect(heard).not.toHaveBeenCalled();
  });
});
