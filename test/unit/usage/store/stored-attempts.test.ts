import { describe, expect, it } from 'vitest';
import { readAttempts, storedAttempts } from '../../../../src/usage/store/record-columns.js';
import { ATTEMPT } from '../../../contract/usage/records.js';

describe('the attempts of a record', () => {
  it('are stored with the code of a failure and the time that they took, where these are known', () => {
    const stored = storedAttempts([
      {
        ...ATTEMPT,
        upstream: 'acme\0',
        code: 'upstream_error',
        cause: { kind: 'server', status: 500 },
        durationMs: 1.6,
      },
      { ...ATTEMPT, upstream: 'backup', code: undefined, durationMs: undefined },
    ]);
    expect(JSON.parse(stored)).toEqual([
      { upstream: 'acme\ufffd', code: 'upstream_error', cause: { kind: 'server', status: 500 }, duration_ms: 2 },
      { upstream: 'backup', duration_ms: null },
    ]);
    expect(readAttempts(stored)).toEqual(JSON.parse(stored));
    expect(readAttempts(null)).toEqual([]);
  });

  it('are a hundred at most', () => {
    expect(readAttempts(storedAttempts(Array.from({ length: 101 }, () => ATTEMPT)))).toHaveLength(100);
  });
});
