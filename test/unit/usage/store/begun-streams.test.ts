import { describe, expect, it } from 'vitest';
import { readStreams, writeStreams } from '../../../../src/usage/store/begun-streams.js';
import type { BegunStream } from '../../../../src/usage/record/usage-record.js';
import { begun } from '../../../contract/usage/records.js';

describe('the intents of streams', () => {
  it('are read as they were written', () => {
    const streams = [begun(), begun()];
    expect(readStreams(writeStreams(streams))).toEqual({ streams });
    expect(readStreams('[]')).toEqual({ streams: [] });
  });

  it.each(['', '{', '{}', 'null', '7', '[7]', '[null]', '[{},null]', '["a"]'])('are unreadable in %j', (text) => {
    expect(readStreams(text)).toEqual({ streams: [], unreadable: text });
  });

  it('cannot hold values without JSON', () => {
    const stream = { ...begun(), accountId: 7n } as unknown as BegunStream;
    expect(() => writeStreams([stream])).toThrow(
      expect.objectContaining({ name: 'UnstorableData', cause: expect.any(TypeError) as Error }) as Error,
    );
  });
});
