import { ServiceError } from '../../../platform/common/service-error.js';
import { withoutTrailingSlashes } from '../../../platform/common/text/cut-text.js';
import type { UpstreamConfig } from '../../../platform/config/config.js';

/** The parsed addresses of each upstream, so that a request does not parse them again. */
const known = new WeakMap<UpstreamConfig, Map<string, URL>>();

/**
 * Returns the address of `path` under the base URL of the upstream. Keeps the path and the query (`?api-version=…`) of the
 * base.
 *
 * @param query what the protocol adds to the query, such as `alt=sse`. One path has one query.
 * @since 1.0
 */
export function endpoint(upstream: UpstreamConfig, path: string, query = ''): URL {
  const addresses = known.get(upstream) ?? new Map<string, URL>();
  known.set(upstream, addresses);
  const address = addresses.get(path) ?? addressOf(upstream, path, query);
  addresses.set(path, address);
  return address;
}

function addressOf({ baseUrl }: UpstreamConfig, path: string, query: string): URL {
  if (baseUrl === undefined) throw new ServiceError('internal_error', 'The upstream of this model has no address.');
  const url = new URL(baseUrl);
  url.pathname = trimmedPath(url) + path;
  if (query !== '') url.search += `${url.search === '' ? '?' : '&'}${query}`;
  url.hash = '';
  return url;
}

/** Returns the path of a URL without slashes at its end. */
export function trimmedPath(url: URL): string {
  return withoutTrailingSlashes(url.pathname);
}

/**
 * Returns the headers of an event stream request, without those that are `undefined`. Configured headers of the upstream replace headers of the protocol.
 *
 * @since 1.0
 */
export function streamHeaders(
  protocolHeaders: Readonly<Record<string, string | undefined>>,
  upstream: UpstreamConfig,
): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'text/event-stream' };
  for (const [name, value] of Object.entries(protocolHeaders)) if (value !== undefined) headers[name] = value;
  // Names are in lower case, so that a configured `Authorization` replaces the header of the protocol.
  for (const [name, value] of Object.entries(upstream.headers)) headers[name.toLowerCase()] = value;
  return headers;
}
