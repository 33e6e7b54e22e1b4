import { describe, expect, it } from 'vitest';
import { hasBearerHeader } from '../../../../src/auth/bearer/bearer-header.js';
import { requestWith } from '../requests.js';

describe('a bearer header', () => {
  it.each([
    ['Bearer csk_1', true],
    ['bEARER\tcsk_1', true],
    ['Bearer', true],
    ['Bearers csk_1', false],
    ['Basic Bearer x', false],
    [' Bearer x', false],
    ['', false],
  ])('is seen in %j: %s', (authorization, expected) => {
    expect(hasBearerHeader(requestWith({ authorization }))).toBe(expected);
  });

  it('is not seen without the header', () => {
    expect(hasBearerHeader(requestWith({}))).toBe(false);
  });
});
