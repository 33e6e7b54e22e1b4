import { expect, it } from 'vitest';
import { waitingTime } from '../../../../src/plugins/dashboard/numbers-and-times.js';

it.each([
  [1, '1 second'],
  [59, '59 seconds'],
  [60, '1 minute'],
  [61, '2 minutes'],
  [3540, '59 minutes'],
  [3541, '1 hour'],
  [3600, '1 hour'],
  [3601, '2 hours'],
])('a wait of %i seconds is shown as %s', (seconds, text) => {
  expect(waitingTime(seconds)).toBe(text);
});
