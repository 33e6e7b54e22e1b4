import { describe, expect, it } from 'vitest';
import { LogReader, LogSource } from '../../../../../src/plugins/durable/log/log-reader.js';
import { StreamLog } from '../../../../../src/plugins/durable/log/stream-log.js';
import { StreamMemory } from '../../../../../src/plugins/durable/log/stream-memory.js';
import { ShedLoad } from '../../../../../src/platform/common/shed-load.js';
import type { CompletionPart } from '../../../../../src/upstreams/contract/stream-part.js';

const USAGE: CompletionPart = { type: 'usage', usage: { inputTokens: 3 } };
const memory = new StreamMemory({ streamMemoryBytes: 1_000_000 }, new ShedLoad());

function logOf(...parts: (string | CompletionPart)[]): StreamLog {
  const log = new StreamLog(memory);
  log.begin();
  for (const part of parts) log.append(typeof part === 'string' ? { type: 'text', text: part } : part);
  return log;
}

/** Everything that a reader gets now, with neighbouring texts joined. */
function readAll(log: StreamLog, from = 0) {
  const reader = new LogReader(new LogSource(log), 'id', from);
  const found: (string | CompletionPart)[] = [];
  for (let part = reader.read(); part !== undefined; part = reader.read()) {
    const last = found.at(-1);
    if (part.type !== 'text') found.push(part);
    else if (typeof last === 'string') found[found.length - 1] = last + part.text;
    else found.push(part.text);
  }
  return found;
}

describe('the reader of a log', () => {
  it.each([
    [0, ['🦊 one', USAGE, ' two']],
    [3, ['one', USAGE, ' two']],
    [5, ['e', USAGE, ' two']],
    [6, [USAGE, ' two']],
    [7, ['two']],
    [10, []],
    [99, []],
    // Inside of the fox.
    [1, [' one', USAGE, ' two']],
  ])('loses and repeats nothing after %i units', (from, expected) => {
    expect(readAll(logOf('🦊 one', USAGE, ' two'), from)).toEqual(expected);
  });

  it('never divides a code point of a long text, also between two pieces', () => {
    const text = 'x'.repeat(16 * 1024 - 1) + '🦊';
    const reader = new LogReader(new LogSource(logOf(text, text)), 'id');
    for (let part = reader.read(); part !== undefined; part = reader.read()) {
      expect(part.type === 'text' && part.text.isWellFormed()).toBe(true);
    }
    expect(readAll(logOf(text, text))).toEqual([text + text]);
  });

  it('that is behind ends when the log is evicted, and one that has everything waits for the ending', () => {
    const log = logOf('text');
    const [behind, current] = [new LogReader(new LogSource(log), 'id'), new LogReader(new LogSource(log), 'id')];
    current.read();
    log.evict();
    expect(() => behind.read()).toThrow(expect.objectContaining({ code: 'unavailable' }));
    expect(current.read()).toBeUndefined();
  });
});
