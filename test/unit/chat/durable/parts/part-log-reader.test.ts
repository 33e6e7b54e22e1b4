import { describe, expect, it, vi } from 'vitest';
import { PartLines } from '../../../../../src/chat/durable/parts/part-lines.js';
import { PartLogReader } from '../../../../../src/chat/durable/parts/part-log-reader.js';
import { StreamLog } from '../../../../../src/chat/durable/log/stream-log.js';
import { StreamMemory } from '../../../../../src/chat/durable/log/stream-memory.js';
import type { ShedLoad } from '../../../../../src/common/shed-load.js';
import { ServiceError } from '../../../../../src/common/service-error.js';
import type { CompletionPart } from '../../../../../src/upstreams/contract/stream-part.js';

const PARTS: readonly CompletionPart[] = [
  { type: 'reasoning', text: 'Hm\n"', signature: 'acme:s' },
  { type: 'text', text: 'a\nb \u{1f600}' },
  { type: 'tool_call_start', id: '1', name: 'weather', index: 0 },
  { type: 'tool_call_delta', id: '1', json: '{}' },
  { type: 'tool_call_end', id: '1' },
  { type: 'text', text: 'x'.repeat(50_000) },
  { type: 'usage', usage: { inputTokens: 3 } },
  { type: 'finish', reason: 'tool_calls', raw: 'stop' },
];

const newLog = () =>
  new StreamLog(new StreamMemory({ streamMemoryBytes: 1e6 }, { count: vi.fn() } as unknown as ShedLoad));

function written(log: StreamLog, writer: PartLines): void {
  log.append(writer.begin());
  for (const part of PARTS) log.append(writer.part(part));
  log.append(writer.end());
  log.end({ kind: 'done' });
}

async function all(parts: AsyncIterable<CompletionPart>): Promise<CompletionPart[]> {
  const found: CompletionPart[] = [];
  for await (const part of parts) found.push(part);
  return found;
}

describe('a kept answer', () => {
  it('has the same parts for each reader, before and after its end, between the facts of its surface', async () => {
    const log = newLog();
    const early = new PartLogReader(log);
    const waiting = Promise.all([early.readHead(), Promise.resolve()]).then(() => all(early));
    written(log, new PartLines({ id: '1' }, () => ({ tokens: 7 })));
    expect(await waiting).toEqual(PARTS);
    const late = new PartLogReader(log);
    expect(await late.readHead()).toEqual({ id: '1' });
    expect(late.tail).toBeUndefined();
    expect(await all(late)).toEqual(PARTS);
    expect([early.tail, late.tail, late.isOver]).toEqual([{ tokens: 7 }, { tokens: 7 }, true]);
  });

  it('is read wherever the log is divided', async () => {
    const whole = newLog();
    written(whole, new PartLines(1, () => 2));
    const text = whole.read(0, 4_000) ?? '';
    for (let cut = 0; cut < text.length; cut += 7) {
      if (!text.slice(0, cut).isWellFormed()) continue;
      const log = newLog();
      const reader = new PartLogReader(log);
      log.append(text.slice(0, cut));
      const head = reader.readHead();
      const first: CompletionPart[] = [];
      log.append(text.slice(cut));
      await head;
      for (let part = reader.read(); part !== undefined; part = reader.read()) first.push(part);
      expect(first).toEqual(PARTS.slice(0, first.length));
      expect(first.length).toBeGreaterThan(3);
    }
  });

  it('fails where the answer has failed, after its parts', async () => {
    const log = newLog();
    const writer = new PartLines(1, () => 2);
    log.append(writer.begin());
    log.append(writer.part({ type: 'text', text: 'a' }));
    log.end({ kind: 'failed', code: 'upstream_error', message: 'Broken.' });
    const reader = new PartLogReader(log);
    await reader.readHead();
    expect(reader.read()).toEqual({ type: 'text', text: 'a' });
    expect(() => reader.read()).toThrow('Broken.');
  });

  it('ends for one reader without the others', async () => {
    const log = newLog();
    written(log, new PartLines(1, () => 2));
    const [stopped, other] = [new PartLogReader(log), new PartLogReader(log)];
    await Promise.all([stopped.readHead(), other.readHead()]);
    stopped.stop(new ServiceError('key_revoked', 'Revoked.'));
    expect(() => stopped.read()).toThrow('Revoked.');
    expect(await all(other)).toEqual(PARTS);
  });
});
