import { describe, expect, it } from 'vitest';
import { knownLabel } from '../../../src/upstreams/protocols/shared/known-labels.js';

describe('the label of a provider in the log', () => {
  it.each([
    ['Rate_Limit_Exceeded', 'rate_limit_exceeded'],
    [100, '100'],
    ['429', '429'],
    [599, '599'],
    [99, 'other'],
    [600, 'other'],
    [429.5, 'other'],
    ['anything else', 'other'],
    // Read as a number, it would be a status.
    [`${'0'.repeat(62)}429`, 'other'],
    [`${'0'.repeat(61)}429`, '429'],
  ])('for %j is %s', (label, shown) => {
    expect(knownLabel(label)).toBe(shown);
  });
});
