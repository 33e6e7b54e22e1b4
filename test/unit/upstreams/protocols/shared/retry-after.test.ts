import { describe, expect, it } from 'vitest';
import { retryAfterSeconds } from '../../../../../src/upstreams/protocols/shared/http-failure.js';

const NOW = Date.UTC(1994, 10, 6, 8, 49, 0);

describe('the Retry-After of a provider', () => {
  it.each([
    ['0', 0],
    ['7', 7],
    [' 42 ', 42],
    ['3600', 3_600],
    ['3601', 3_600],
    ['31536000', 3_600],
    ['9'.repeat(1_000), 3_600],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37],
    ['Sun Nov  6 08:49:37 1994', 37],
    ['Mon, 06 Nov 1995 08:49:37 GMT', 3_600],
  ])('%j means %d seconds', (sent, seconds) => {
    expect(retryAfterSeconds(sent, NOW)).toBe(seconds);
  });

  it.each([
    undefined,
    '',
    'soon',
    '-1',
    '2.5',
    '1e3',
    '0x10',
    '7, 8',
    '1994-11-06T08:49:37Z',
    'Sun, 06 Nov 1994 08:48:59 GMT',
    'Sun, x',
    'Sun',
    `Sun, ${' '.repeat(10_000)}06 Nov 1994 08:49:37 GMT`,
  ])('is nothing where it is %j', (sent) => {
    expect(retryAfterSeconds(sent, NOW)).toBeUndefined();
  });
});
