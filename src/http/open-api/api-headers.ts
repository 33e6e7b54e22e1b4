/** The headers of responses that several operations share, for the OpenAPI document. */

const INTEGER = { type: 'integer' } as const;

export const REQUEST_ID = {
  'X-Request-Id': {
    description: 'Identifies the request in the log and in `GET /usage/streams/{request_id}`.',
    schema: { type: 'string' as const },
  },
};

/** A tier without one of the two limits has no headers for the limit. */
export const RATE_LIMIT_HEADERS = {
  'X-RateLimit-Limit': { description: 'The requests per minute that the tier allows.', schema: INTEGER },
  'X-RateLimit-Remaining': { description: 'The remaining requests in this minute.', schema: INTEGER },
  'X-RateLimit-Reset': { description: 'Seconds until the minute ends.', schema: INTEGER },
  'X-RateLimit-Limit-Tokens': { description: 'The tokens per day that the tier allows.', schema: INTEGER },
  'X-RateLimit-Remaining-Tokens': { description: 'The remaining tokens of this day.', schema: INTEGER },
  'X-RateLimit-Reset-Tokens': { description: 'Seconds until the day ends, in UTC.', schema: INTEGER },
};
