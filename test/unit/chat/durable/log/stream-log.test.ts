import { beforeEach, describe, expect, it, vi } from 'vitest';
import { StreamLog } from '../../../../../src/chat/durable/log/stream-log.js';
import type { StreamMemory } from '../../../../../src/chat/durable/log/stream-memory.js';
import { DONE, FAILED, FOX, newMemory } from './logs.js';

let memory: StreamMemory;
let log: StreamLog;

beforeEach(() => {
  memory = newMemory();
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
