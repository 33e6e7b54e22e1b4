import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventParser } from '../../../src/client/chat-stream.js';

const STREAM = [
  ': keep-alive',
  '',
  'data: {"content":"Hä"}',
  '',
  'event: error',
  'data:no space',
  'data:  two: lines',
  'id: 7',
  '',
  'event: nothing',
  '',
  'id: bad\0id',
  'data',
  '',
  'id',
  'retry: 10',
  'data: 🦜',
  '',
  '',
];
const EVENTS = [
  { event: '', data: '{"content":"Hä"}', id: '' },
  { event: 'error', data: 'no space\n two: lines', id: '7' },
  { event: '', data: '', id: '7' },
  { event: '', data: '🦜', id: '' },
];

describe('the parser of events', () => {
  it.each([
    ['LF', '\n'],
    ['CR', '\r'],
    ['CR and LF', '\r\n'],
  ])('finds them whatever the pieces are, with lines that end with %s', (_, lineEnd) => {
    const text = STREAM.join(lineEnd) + 'data: started';
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const places = [0, ...cuts.sort((one, other) => one - other), text.length];
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
        const parse = eventParser();
        expect(pieces.flatMap(parse)).toEqual(EVENTS);
      }),
    );
  });

  it('returns nothing of an incomplete event', () => {
    const parse = eventParser();
    expect(parse('data: {"content":"a"}\n')).toEqual([]);
    expect(parse('\n')).toHaveLength(1);
  });
});
