import { beforeEach, describe, expect, it } from 'vitest';
import { StreamLog } from '../../../../../src/plugins/durable/log/stream-log.js';
import { StreamMemory } from '../../../../../src/plugins/durable/log/stream-memory.js';
import { ShedLoad } from '../../../../../src/platform/common/shed-load.js';

const DONE = { kind: 'done' } as const;
/** The memory of a stream without text. */
const EMPTY = 1_024;
const LIMIT = 100 * EMPTY;
const FAILED = { kind: 'failed', code: 'upstream_error', message: 'It failed.' } as const;
const FULL = { code: 'unavailable', retryAfterSeconds: 5 };

let memory: StreamMemory;
let shedLoad: ShedLoad;

beforeEach(() => {
  shedLoad = new ShedLoad();
  memory = new StreamMemory({ streamMemoryBytes: LIMIT }, shedLoad);
});

/** A running stream that uses this many KiB. */
function running(accountId: string, kibibytes: number): StreamLog {
  const log = new StreamLog(memory, 0, accountId);
  log.append({ type: 'text', text: 'x'.repeat(kibibytes * EMPTY - EMPTY) });
  return log;
}

function ended(accountId: string, kibibytes: number): StreamLog {
  const log = running(accountId, kibibytes);
  log.end(DONE);
  return log;
}

const evictedOf = (logs: Readonly<Record<string, StreamLog>>): string[] =>
  Object.entries(logs).flatMap(([name, { isEvicted }]) => (isEvicted ? [name] : []));
const shedCount = (): number => new Map(shedLoad.counts).get('stream_memory') ?? 0;

describe('the memory of a stream', () => {
  let log: StreamLog;
  beforeEach(() => {
    log = new StreamLog(memory);
  });

  it('is reserved for a stream, for its request until the first text, and for its text in UTF-8', () => {
    const stream = new StreamLog(memory, 300);
    expect(memory.used).toBe(2 * EMPTY + 300);
    stream.begin();
    expect(memory.used).toBe(2 * EMPTY + 300);
    stream.append({ type: 'text', text: 'é'.repeat(10) });
    expect(memory.used).toBe(2 * EMPTY + 20);
    stream.end(DONE);
    expect(memory.used).toBe(2 * EMPTY + 20);
    stream.release();
    stream.release();
    expect(memory.used).toBe(EMPTY);
    expect(stream.read({ index: 0, offset: 0 }, 2)).toEqual({ type: 'text', text: 'éé' });
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
    log.append({ type: 'text', text: 'x'.repeat(LIMIT - EMPTY) });
    expect(memory.used).toBe(LIMIT);
    expect(() => {
      log.append({ type: 'text', text: 'y' });
    }).toThrow(
      expect.objectContaining({
        code: 'unavailable',
        message: 'This process cannot keep more text of durable streams. Try again.',
        retryAfterSeconds: 5,
      }),
    );
    expect([memory.used, log.length, new Map(shedLoad.counts).get('stream_memory')]).toEqual([LIMIT, LIMIT - EMPTY, 1]);
  });
});

describe('the memory of durable streams', () => {
  it('belongs to one account as long as no other account needs it', () => {
    const logs = { first: ended('greedy', 60), second: ended('greedy', 40) };
    expect([memory.used, evictedOf(logs)]).toEqual([LIMIT, []]);
  });

  it('evicts the ended streams of the account that uses the most, the oldest first', () => {
    const logs = {
      kept: ended('honest', 10),
      old: ended('greedy', 30),
      young: ended('greedy', 30),
      last: ended('greedy', 30),
    };
    running('another', 20);
    expect(evictedOf(logs)).toEqual(['old']);
    running('another', 20);
    expect([evictedOf(logs), shedCount()]).toEqual([['old', 'young'], 0]);
  });

  it('evicts streams that somebody reads after the others of the account', () => {
    const logs = { read: ended('greedy', 30), young: ended('greedy', 30), last: ended('greedy', 30) };
    const leave = logs.read.follow(() => undefined);
    running('another', 20);
    expect(evictedOf(logs)).toEqual(['young']);
    logs.last.follow(() => undefined);
    running('another', 40);
    expect(evictedOf(logs)).toEqual(['read', 'young']);
    leave();
  });

  it('refuses the account that uses the most and has no ended stream, and lets the others begin', () => {
    const kept = ended('honest', 10);
    const greedy = running('greedy', 89);
    const text = 'x'.repeat(EMPTY + 1);
    expect(() => {
      greedy.append({ type: 'text', text });
    }).toThrow(expect.objectContaining(FULL));
    expect([kept.isEvicted, greedy.ending, shedCount()]).toEqual([false, undefined, 1]);
    running('honest', 1);
    expect([kept.isEvicted, greedy.ending]).toEqual([false, undefined]);
  });

  it('lets the running streams of an account begin up to half of the memory, and one stream alone always', () => {
    const alone = new StreamLog(memory, 90 * EMPTY, 'alone');
    alone.release();
    new StreamLog(memory, 29 * EMPTY, 'greedy');
    new StreamLog(memory, 19 * EMPTY, 'greedy');
    expect(() => new StreamLog(memory, 0, 'greedy')).toThrow(expect.objectContaining(FULL));
    expect([memory.used, shedCount()]).toEqual([50 * EMPTY, 1]);
    new StreamLog(memory, 39 * EMPTY, 'another');
  });

  it('counts the ended streams of an account for no share of its running ones', () => {
    ended('greedy', 60);
    expect(running('greedy', 40).isEvicted).toBe(false);
  });

  it('ends the largest running stream of the account that uses the most where another account uses less', () => {
    const logs = {
      kept: ended('honest', 5),
      small: running('greedy', 20),
      large: running('greedy', 28),
      other: running('other', 47),
    };
    const mine = running('honest', 1);
    mine.append({ type: 'text', text: 'x'.repeat(EMPTY) });
    expect(evictedOf(logs)).toEqual(['large']);
    expect([mine.ending, shedCount(), memory.used]).toEqual([undefined, 1, (5 + 20 + 47 + 2) * EMPTY]);
  });

  it('prefers an ended stream above an equal share to a running stream of an account that uses more', () => {
    const logs = { kept: ended('honest', 5), old: ended('other', 45), running: running('greedy', 50) };
    running('another', 2);
    expect(evictedOf(logs)).toEqual(['old']);
  });

  it('reserves nothing for a stream that is refused', () => {
    running('greedy', 60);
    expect(() => new StreamLog(memory, 120 * EMPTY, 'honest')).toThrow(expect.objectContaining(FULL));
    expect(memory.used).toBe(60 * EMPTY);
    expect(running('honest', 40).ending).toBeUndefined();
  });

  it('is free again when all streams are released', () => {
    const logs = [running('one', 10), ended('one', 10), running('two', 10), ended('two', 10)];
    for (const log of logs) log.release();
    for (const log of logs) {
      log.append({ type: 'text', text: 'text' });
      log.end(DONE);
      log.release();
    }
    expect([memory.used, (Reflect.get(memory, 'accounts') as Map<string, unknown>).size]).toEqual([0, 0]);
  });
});
