import { describe, expect, it } from 'vitest';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import { PartCollector } from '../../../../src/upstreams/completion/part-collector.js';
import type { CompletionPart, StreamPart } from '../../../../src/upstreams/contract/stream-part.js';

const start = (id: string, name = 'weather'): StreamPart => ({ type: 'tool_call_start', id, name, index: 7 });
const delta = (id: string, json: string): StreamPart => ({ type: 'tool_call_delta', id, json });
const end = (id: string): StreamPart => ({ type: 'tool_call_end', id });
const finish = (reason: 'stop' | 'length' | 'content_filter'): StreamPart => ({ type: 'finish', reason, raw: reason });
const COMPLETE: StreamPart = { type: 'complete', last: true };

function read(parts: readonly StreamPart[], keepsToolCalls = true) {
  const trace = new CallTrace('request-1');
  trace.beginAttempt('acme');
  const collector = new PartCollector(trace, true, keepsToolCalls, { protocol: 'acme', upstream: 'a' });
  collector.state.on('accept');
  for (const part of parts) collector.add(part);
  const taken: CompletionPart[] = [];
  for (let part = collector.take(); part !== undefined; part = collector.take()) taken.push(part);
  return { collector, taken, trace };
}

describe('the tool calls of an answer', () => {
  it('keep their order between texts, with their arguments joined, and are counted from 0', () => {
    const { taken, collector, trace } = read([
      { type: 'text', text: 'a' },
      start('1'),
      delta('1', '{"c'),
      delta('1', 'ity":1}'),
      end('1'),
      { type: 'text', text: 'b' },
      start('2', 'time'),
      end('2'),
      finish('stop'),
      COMPLETE,
    ]);
    expect(taken).toEqual([
      { type: 'text', text: 'a' },
      { type: 'tool_call_start', id: '1', name: 'weather', index: 0 },
      { type: 'tool_call_delta', id: '1', json: '{"city":1}' },
      { type: 'tool_call_end', id: '1' },
      { type: 'text', text: 'b' },
      { type: 'tool_call_start', id: '2', name: 'time', index: 1 },
      { type: 'tool_call_delta', id: '2', json: '{}' },
      { type: 'tool_call_end', id: '2' },
      { type: 'finish', reason: 'tool_calls', raw: 'stop' },
    ]);
    expect(collector.isWhole).toBe(true);
    expect(trace.toolCalls).toBe(2);
  });

  it('may be open at the same time', () => {
    const { taken, collector } = read([
      ...[start('1'), start('2'), delta('1', '{'), delta('2', '{"a":'), delta('1', '}'), delta('2', '1}')],
      ...[end('2'), end('1'), COMPLETE],
    ]);
    const joined = (id: string) => taken.map((part) => ('json' in part && part.id === id ? part.json : '')).join('');
    expect([joined('1'), joined('2')]).toEqual(['{}', '{"a":1}']);
    expect(collector.state.failure).toBeUndefined();
  });

  it('keep half of a character for the next piece of the arguments', () => {
    const { taken, collector } = read([start('1'), delta('1', '{"a":"\ud83d')]);
    expect(taken.at(-1)).toEqual({ type: 'tool_call_delta', id: '1', json: '{"a":"' });
    collector.add(delta('1', '\ude00"}'));
    collector.add(end('1'));
    expect(collector.take()).toEqual({ type: 'tool_call_delta', id: '1', json: '\u{1f600}"}' });
  });

  it.each<[string, readonly StreamPart[]]>([
    ['is open when the answer is complete', [start('1'), delta('1', '{}'), finish('stop'), COMPLETE]],
    ['is cut by the limit of tokens', [start('1'), delta('1', '{"a":'), finish('length'), COMPLETE]],
    ['has arguments that are cut', [start('1'), delta('1', '{"a":'), end('1'), COMPLETE]],
    ['has no arguments at the limit of tokens', [start('1'), end('1'), finish('length'), COMPLETE]],
    [
      'goes on after the end of the answer',
      [{ type: 'text', text: 'a' }, { type: 'complete', last: false }, start('1')],
    ],
    ['has arguments that are too long', [start('1'), delta('1', ' '.repeat(1024 * 1024 + 1)), COMPLETE]],
    ['has the id of another open call', [start('1'), start('1')]],
    ['has no id', [start('')]],
    ['has no name', [start('1', '')]],
    ['has not begun', [delta('1', '{}')]],
    ['has ended twice', [start('1'), delta('1', '{}'), end('1'), end('1')]],
    ['follows too many others', Array.from({ length: 257 }, (_, index) => start(String(index)))],
  ])('fail the answer with upstream_error when one %s', (_, parts) => {
    const { collector, taken } = read(parts);
    expect(collector.state.failure).toMatchObject({ code: 'upstream_error' });
    expect(collector.isWhole).toBe(false);
    expect(taken.filter(({ type }) => type === 'tool_call_end').length).toBeLessThanOrEqual(1);
  });

  it('leave a filtered answer to the content filter', () => {
    expect(read([start('1'), finish('content_filter'), COMPLETE]).collector.state.failure).toBeUndefined();
  });

  it.each([
    ['the next call', [start('2'), delta('2', '{}'), end('2'), finish('length'), COMPLETE]],
    ['a text', [{ type: 'text', text: 'a' }, finish('length'), COMPLETE] as const],
    ['the finish', [finish('stop'), COMPLETE]],
  ])('keep arguments that are no JSON object as they are, when they are followed by %s', (_, following) => {
    const { taken, collector } = read([start('1'), delta('1', '{a: 1}'), end('1'), ...following]);
    expect(collector.state.failure).toBeUndefined();
    expect(taken.slice(1, 3)).toEqual([
      { type: 'tool_call_delta', id: '1', json: '{a: 1}' },
      { type: 'tool_call_end', id: '1' },
    ]);
  });

  it('get ids of their own if the provider gives one id to two of them', () => {
    const call = [start('1'), delta('1', '{}'), end('1')];
    const { taken, collector } = read([...call, ...call, finish('stop'), COMPLETE]);
    expect(collector.state.failure).toBeUndefined();
    const ids = taken.flatMap((part) => (part.type === 'tool_call_end' ? [part.id] : []));
    expect([ids[0], new Set(ids).size]).toEqual(['1', 2]);
  });

  it('are only a sign of life when the request offers no tools', () => {
    const { taken, collector, trace } = read([start('1'), delta('1', 'no json'), finish('stop'), COMPLETE], false);
    expect(taken).toEqual([{ type: 'finish', reason: 'stop', raw: 'stop' }]);
    expect([collector.signOfLife, collector.state.isMarked, trace.toolCalls]).toEqual([true, true, 0]);
  });
});

describe('reasoning with a signature', () => {
  it('is a part of its own, which ends the block', () => {
    const think = (text: string): StreamPart => ({ type: 'reasoning', text });
    const { taken } = read([
      ...[think('a'), think('b'), { type: 'reasoning', text: '', signature: 's' } as const],
      ...[think('c'), { type: 'reasoning', text: '', encrypted: 'e' } as const, think('d')],
    ]);
    expect(taken).toEqual([
      { type: 'reasoning', text: 'ab' },
      { type: 'reasoning', text: '', signature: 'acme:s' },
      { type: 'reasoning', text: 'c' },
      { type: 'reasoning', text: '', encrypted: 'acme:e' },
      { type: 'reasoning', text: 'd' },
    ]);
  });
});
