import { ServiceError } from '../../common/service-error.js';
import { utcDay } from '../../common/utc-day.js';

const TIME = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/;

/**
 * Checks a day of a request for audit entries: `YYYY-MM-DD` in UTC. A time in ISO 8601 counts as its day.
 *
 * @throws {ServiceError} `invalid_request` when the text is no day.
 */
export function auditDay(text: string | undefined, field: string): string | undefined {
  if (text === undefined || text === '') return undefined;
  const moment = TIME.test(text) ? Date.parse(text) : NaN;
  // Date.parse accepts the 30th of February as a day of March.
  if (!Number.isNaN(moment) && utcDay(moment) === text.slice(0, 10)) return text.slice(0, 10);
  throw new ServiceError('invalid_request', `"${field}" must be a day in the form YYYY-MM-DD.`, {
    details: [{ field, message: 'must be a day in the form YYYY-MM-DD' }],
  });
}
