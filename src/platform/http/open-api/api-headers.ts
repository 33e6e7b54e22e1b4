import { LIMITS } from '../../config/limits/limit-table.js';

/** The headers of responses that several operations share, for the OpenAPI document. */

const INTEGER = { type: 'integer' } as const;

export const REQUEST_ID = {
  'X-Request-Id': {
    description: 'Identifies the request in the log and in `GET /usage/streams/{request_id}`.',
    schema: { type: 'string' as const },
  },
};

/** The three headers of a limit. */
function limitHeaders(suffix: string, label: string, window: 'minute' | 'day', limitedBy: string) {
  const end = window === 'day' ? 'the day ends, in UTC' : 'the minute ends';
  return {
    [`X-RateLimit-Limit${suffix}`]: { description: `The ${label} that ${limitedBy} allows.`, schema: INTEGER },
    [`X-RateLimit-Remaining${suffix}`]: { description: `The remaining part of the ${label}.`, schema: INTEGER },
    [`X-RateLimit-Reset${suffix}`]: { description: `Seconds until ${end}.`, schema: INTEGER },
  };
}

/** The headers of a route with a budget of its own. */
export const BUDGET_HEADERS = limitHeaders('', 'requests per minute', 'minute', 'the budget of the route');

/** The headers of the limits of a tier. A limit that the tier does not have has no headers. */
export const RATE_LIMIT_HEADERS = Object.assign(
  {},
  ...Object.values(LIMITS).map((limit) =>
    limit.header === undefined ? {} : limitHeaders(limit.header, limit.label, limit.window, 'the tier'),
  ),
) as ReturnType<typeof limitHeaders>;
