import { beforeEach, describe, expect, it, vi } from 'vitest';
import { LogReader } from '../../../../../src/chat/durable/log/log-reader.js';
import { StreamLog } from '../../../../../src/chat/durable/log/stream-log.js';
import { DONE, FAILED, FOX, newMemory } from './logs.js';

let log: StreamLog;

beforeEach(() => {
  log = new StreamLog(newMemory());
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
