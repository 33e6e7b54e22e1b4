import { describe, expect, it } from 'vitest';
import { timeOrderedId } from '../../../../src/platform/common/time-ordered-id.js';

describe('the id of a record', () => {
  it('is a UUID of version 7 that begins with the time', () => {
    const id = timeOrderedId(Date.parse('2026-11-21T00:00:00.123Z') + 0.75);
    expect(id).toMatch(/^01a1fb67-187b-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(timeOrderedId(0)).toMatch(/^00000000-0000-7/);
  });
});
