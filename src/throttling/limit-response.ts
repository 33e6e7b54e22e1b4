import type { Response } from 'express';
import { KEY_LIMITS, LIMITS, type LimitDefinition, type LimitWindow } from '../platform/config/limits/limit-table.js';
import { ServiceError } from '../platform/common/service-error.js';
import '../platform/http/surface/surface.decorator.js';
import type { LimitState, LimitStates, Refusal, TokenDemand } from './limit-store.js';
import type { PluginLimit } from './plugin-limits.js';

const DEFINITIONS: Readonly<Record<string, LimitDefinition | undefined>> = { ...LIMITS, ...KEY_LIMITS };

const NONE: readonly PluginLimit[] = [];
const REMAIN: Readonly<Record<LimitWindow, string>> = {
  none: 'now',
  minute: 'in this minute, which began with its first request',
  day: 'until midnight UTC',
  month: 'in this month',
};

type ShownDefinition = PluginLimit['definition'];

function definitionOf(name: string, ofPlugins: readonly PluginLimit[]): ShownDefinition | undefined {
  return DEFINITIONS[name] ?? ofPlugins.find((limit) => limit.name === name)?.definition;
}

/**
 * Sets the headers of the limits of a tier and of a key, for admitted and for refused requests. If both have the same limit, the
 * headers show the one of which less remains.
 */
export function setLimitHeaders(
  response: Response,
  prefix: string,
  states: LimitStates,
  ofPlugins: readonly PluginLimit[] = NONE,
): void {
  for (const [name, state] of Object.entries(states)) {
    const header = definitionOf(name, ofPlugins)?.header;
    if (header === undefined || (name in KEY_LIMITS && hasTighter(states, header, state))) continue;
    setHeaders(response, prefix, header, state);
  }
  if (response.req.context.surface !== undefined) setSurfaceHeaders(response, states);
}

/** Sets the headers of a route with a rate of its own. */
export function setRateHeaders(response: Response, state: LimitState): void {
  setHeaders(response, 'X-RateLimit', '', state);
  if (response.req.context.surface !== undefined) setSurfaceHeaders(response, { requestsPerMinute: state });
}

/** Sets the headers that clients of other APIs read: for requests, and for the tokens of the shortest window. */
function setSurfaceHeaders(
  response: Response,
  { requestsPerMinute, tokensPerMinute, tokensPerDay }: Readonly<Record<string, LimitState>>,
): void {
  const tokens = tokensPerMinute ?? tokensPerDay;
  for (const [unit, state] of Object.entries({ requests: requestsPerMinute, tokens })) {
    if (state === undefined) continue;
    response.setHeader(`x-ratelimit-limit-${unit}`, state.limit);
    response.setHeader(`x-ratelimit-remaining-${unit}`, state.remaining);
    if (state.resetSeconds !== undefined) response.setHeader(`x-ratelimit-reset-${unit}`, `${state.resetSeconds}s`);
  }
}

/** Whether less remains of the limit of the tier that has the same header. */
function hasTighter(states: LimitStates, header: string, { remaining }: LimitState): boolean {
  return Object.entries(LIMITS).some(
    ([name, limit]) => limit.header === header && (states[name]?.remaining ?? Infinity) < remaining,
  );
}

/** Sets the three headers of a limit. `suffix` is empty for a limit of requests. */
export function setHeaders(response: Response, prefix: string, suffix: string, state: LimitState): void {
  response.setHeader(`${prefix}-Limit${suffix}`, state.limit);
  response.setHeader(`${prefix}-Remaining${suffix}`, state.remaining);
  if (state.resetSeconds !== undefined) response.setHeader(`${prefix}-Reset${suffix}`, state.resetSeconds);
}

/**
 * @param needed the tokens that the request needs, or `undefined` when the body has not been read.
 * @param ofPlugins the limits of plugins that the request had to pass.
 */
export function refusalError(
  { refusedBy, retryAfterSeconds, retryAfterMs, state }: Refusal,
  needed: TokenDemand | undefined,
  ofPlugins: readonly PluginLimit[] = NONE,
): ServiceError {
  const definition = definitionOf(refusedBy, ofPlugins);
  if (definition === undefined) {
    // A limit of a custom store.
    const message = `The limit ${refusedBy} of the account is reached.`;
    return new ServiceError('rate_limit_exceeded', message, { retryAfterSeconds, retryAfterMs });
  }
  const { code, label, unit, window } = definition;
  const { limit = 0, remaining = 0 } = state[refusedBy] ?? {};
  const scope = ofPlugins.find(({ name }) => name === refusedBy)?.scope;
  const owner = refusedBy in KEY_LIMITS ? 'The API key' : 'The tier';
  const allowing = scope === undefined ? owner : `The limit that all accounts of ${scope} share`;
  // A label is in the plural.
  let message = `${allowing} allows ${limit} ${limit === 1 ? label.replace(/(request|stream|token)s\b/, '$1') : label}.`;
  if (unit === 'requests' && window === 'minute') message += ' A minute begins with its first request.';
  if (unit === 'tokens') {
    const need = needed === undefined ? '' : `, and this request needs up to ${needed.atLeast}`;
    message += ` ${remaining} ${remaining === 1 ? 'remains' : 'remain'} ${REMAIN[window]}${need}.${adviceOf(needed, remaining, limit)}`;
    // Waiting does not help a request that needs more than the whole limit.
    if (needed !== undefined && needed.atLeast > limit) return new ServiceError(code, message);
  }
  return new ServiceError(code, message, { retryAfterSeconds, retryAfterMs });
}

/** Says how the request would pass. Its `max_tokens` is what it needs besides the prompt. */
function adviceOf(needed: TokenDemand | undefined, remaining: number, limit: number): string {
  if (needed?.prompt === undefined) return '';
  const fits = (left: number): number => Math.min(needed.atLeast - 1, left) - (needed.prompt ?? 0);
  if (fits(remaining) >= 1) return ` Set max_tokens to at most ${fits(remaining)}.`;
  if (needed.atLeast <= limit) return '';
  return fits(limit) >= 1 ? ` Set max_tokens to at most ${fits(limit)}.` : ' Send a shorter prompt.';
}
