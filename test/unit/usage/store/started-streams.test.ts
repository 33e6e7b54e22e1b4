import { describe, expect, it } from 'vitest';
import { readStreams, writeStreams } from '../../../../src/usage/store/started-streams.js';
import type { StartedStream } from '../../../../src/usage/record/usage-record.js';
import { started } from '../../../contract/usage/records.js';

describe('the intents of streams', () => {
  it('are read as they were written', () => {
    const streams = [started(), started()];
    expect(readStreams(writeStreams(streams))).toEqual({ streams });
    expect(readStreams('[]')).toEqual({ streams: [] });
  });

  it.each(['', '{', '{}', 'null', '7', '[7]', '[null]', '[{},null]', '["a"]'])('are unreadable in %j', (text) => {
    expect(readStreams(text)).toEqual({ streams: [], unreadable: text });
  });

  it('cannot hold values without JSON', () => {
    const stream = { ...started(), accountId: 7n } as unknown as StartedStream;
    expect(() => writeStreams([stream])).toThrow(
      expect.objectContaining({ name: 'UnstorableData', cause: expect.any(TypeError) as Error }) as Error,
    );
  });
});
