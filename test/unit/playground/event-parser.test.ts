import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventParser } from '../../../src/dashboard/static/playground/answer/event-parser.js';

const STREAM = [
  ': keep-alive',
  '',
  'data: {"content":"Hä"}',
  '',
  'event: error',
  'data:no space',
  'data:  two lines',
  'id: 7',
  '',
  'event: nothing',
  '',
  'data',
  '',
  '',
];
const EVENTS = [
  { event: 'message', data: '{"content":"Hä"}' },
  { event: 'error', data: 'no space\n two lines' },
  { event: 'message', data: '' },
];

describe('the reader of events', () => {
  it.each([
    ['LF', '\n'],
    ['CR', '\r'],
    ['CR and LF', '\r\n'],
  ])('finds them whatever the pieces are, with lines that end with %s', (_, lineEnd) => {
    const text = STREAM.join(lineEnd) + 'data: begun';
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const places = [0, ...cuts.sort((one, other) => one - other), text.length];
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
        const parser = new EventParser();
        expect(pieces.flatMap((piece) => parser.feed(piece))).toEqual(EVENTS);
      }),
    );
  });

  it('gives nothing of an event that is not whole', () => {
    const parser = new EventParser();
    expect(parser.feed('data: {"content":"a"}\n')).toEqual([]);
    expect(parser.feed('\n')).toHaveLength(1);
  });
});
