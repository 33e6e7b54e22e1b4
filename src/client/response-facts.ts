import { ChatError, type ErrorDetail } from './chat-error.js';
import type { RateLimit } from './chat-types.js';

export function responseFacts({ headers }: Response) {
  const number = (name: string) => Number(headers.get(`x-ratelimit-${name}`) ?? NaN);
  const limit = (suffix = ''): RateLimit | undefined => {
    const [limit, remaining, resetSeconds] = [`limit${suffix}`, `remaining${suffix}`, `reset${suffix}`].map(number) as [
      number,
      number,
      number,
    ];
    return Number.isNaN(limit) ? undefined : { limit, remaining, resetSeconds };
  };
  const requestId = headers.get('x-request-id') ?? undefined;
  return { requestId, rateLimits: { requests: limit(), tokens: limit('-tokens') } };
}

/** Reads the error of a response with an error status. */
export async function refusalOf(response: Response): Promise<ChatError> {
  const { status, headers } = response;
  const { error } = objectIn(await response.text().catch(() => ''));
  const {
    code,
    message = `The response has the status ${status}.`,
    details = [],
  } = { ...(error as RefusalBody | undefined) };
  const after = headers.get('retry-after') ?? '';
  // A proxy may send a date.
  const seconds = Number(after || NaN) || Math.ceil((Date.parse(after) - Date.now()) / 1000);
  const retryAfterSeconds = Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
  return new ChatError(message, {
    kind: 'refused',
    status,
    code,
    details,
    retryAfterSeconds,
    ...responseFacts(response),
  });
}

interface RefusalBody {
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly ErrorDetail[];
}

/** The JSON object in the text. An empty object if the text is anything else. */
export function objectIn(json: string): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(json) as object) };
  } catch {
    return {};
  }
}
