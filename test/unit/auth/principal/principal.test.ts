import { describe, expect, it } from 'vitest';
import { principalOf, sessionIdOf } from '../../../../src/auth/principal/principal.js';
import { OF_KEY, OF_SESSION, requestWith } from '../requests.js';

describe('a principal', () => {
  it('has a session id only by a session', () => {
    expect(sessionIdOf(OF_SESSION)).toBe('s1');
    expect(sessionIdOf(OF_KEY)).toBeUndefined();
    expect(sessionIdOf({ ...OF_KEY, credential: { kind: 'external', id: 'x' } })).toBeUndefined();
  });

  it('is missing on a public route, which is a mistake of the program', () => {
    expect(principalOf(requestWith({}, { principal: OF_KEY }))).toBe(OF_KEY);
    expect(() => principalOf(requestWith({}))).toThrow('has no principal');
  });
});
