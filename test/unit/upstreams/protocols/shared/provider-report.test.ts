import { describe, expect, it } from 'vitest';
import { loggedLabel } from '../../../../../src/upstreams/protocols/shared/provider-report.js';

describe('the label of a provider in the log', () => {
  it.each([
    ['rate_limit_exceeded', 'rate_limit_exceeded'],
    ['RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED'],
    ['a.new-label', 'a.new-label'],
    ['x'.repeat(64), 'x'.repeat(64)],
    [429, '429'],
    ['12345', '12345'],
    [123456, 'other'],
    [429.5, 'other'],
    ['x'.repeat(65), 'other'],
    ['_leading', 'other'],
    ['two words', 'other'],
    ['rate_limit\n', 'other'],
    ['sk-abc123', 'other'],
    ['', 'other'],
  ])('for %j is %j', (label, logged) => {
    expect(loggedLabel(label)).toBe(logged);
  });
});
