import { describe, expect, it } from 'vitest';
import { defineError, factsOf } from '../../../../src/platform/common/service-error.js';

const description = 'The test refuses.';

describe('an error code of a plugin', () => {
  it.each([399, 600, 422.5])('is not defined with the status %d', (status) => {
    expect(() => defineError('test_status', { status, description })).toThrow('from 400 to 599');
  });

  it.each([
    [400, 'caller'],
    [499, 'caller'],
    [500, 'service'],
    [599, 'service'],
  ])('with the status %d is a fault of the %s unless it says otherwise', (status, fault) => {
    const { code } = defineError(`test_of_${status}`, { status, description });
    expect(factsOf(code)).toEqual({ status, fault });
    const other = defineError(`test_by_${status}`, { status, description, fault: 'provider' });
    expect(factsOf(other.code).fault).toBe('provider');
  });

  it('can be defined again with the same facts only', () => {
    const same = { status: 503, description, fault: 'provider' } as const;
    defineError('test_again', same);
    expect(() => defineError('test_again', same)).not.toThrow();
    expect(() => defineError('test_again', { ...same, fault: 'service' })).toThrow('exists already');
    expect(() => defineError('test_again', { ...same, status: 502 })).toThrow('exists already');
  });
});
