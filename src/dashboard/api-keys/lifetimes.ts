import { ServiceError } from '../../common/service-error.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The lifetimes of a new key that forms offer: the number of days, and its label. */
export const LIFETIMES = { never: 'Never', '7': '7 days', '30': '30 days', '90': '90 days', '365': '1 year' } as const;

/** How long the old key keeps working after a rotation, as forms offer it: the number of hours, and its label. */
export const OVERLAPS = {
  '0': 'Now',
  '1': '1 hour from now',
  '24': '1 day from now',
  '168': '7 days from now',
} as const;

/**
 * The expiry date for a lifetime in days. `undefined` means that the key does not expire.
 *
 * @throws {ServiceError} `invalid_request` for a value that no form offers.
 */
export function expiryOf(days: string | undefined, now: number): Date | undefined {
  if (days === undefined || days === '' || days === 'never') return undefined;
  if (!Object.hasOwn(LIFETIMES, days)) throw notOffered('expires_in_days');
  return new Date(now + Number(days) * DAY_MS);
}

/**
 * The milliseconds that the old key keeps working after a rotation. The default is one day.
 *
 * @throws {ServiceError} `invalid_request` for a value that no form offers.
 */
export function overlapOf(hours: string | undefined): number {
  if (hours === undefined) return DAY_MS;
  if (!Object.hasOwn(OVERLAPS, hours)) throw notOffered('old_key_ends_in_hours');
  return Number(hours) * HOUR_MS;
}

function notOffered(field: string): ServiceError {
  return new ServiceError('invalid_request', 'The form is invalid.', {
    details: [{ field, message: 'Choose one of the listed options.' }],
  });
}
