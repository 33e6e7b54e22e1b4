import { describe, expect, it } from 'vitest';
import { principalOf } from '../../../../src/auth/principal/principal.js';
import { OF_KEY, requestWith } from '../requests.js';

describe('a principal', () => {
  it('is missing on a public route, which is a mistake of the program', () => {
    expect(principalOf(requestWith({}, { principal: OF_KEY }))).toBe(OF_KEY);
    expect(() => principalOf(requestWith({}))).toThrow('has no principal');
  });
});
