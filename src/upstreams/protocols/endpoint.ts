import { ServiceError } from '../../common/service-error.js';
import { withoutTrailingSlashes } from '../../common/text/without-trailing-slashes.js';
import type { UpstreamConfig } from '../../config/config.js';

/** Parsed once for each upstream, not for each request. */
const known = new WeakMap<UpstreamConfig, Map<string, URL>>();

/** The address of `path` under the upstream's base URL, whose own path and query (`?api-version=…`) stay. */
export function endpoint(upstream: UpstreamConfig, path: string): URL {
  const addresses = known.get(upstream) ?? new Map<string, URL>();
  known.set(upstream, addresses);
  const address = addresses.get(path) ?? addressOf(upstream, path);
  addresses.set(path, address);
  return address;
}

function addressOf({ baseUrl }: UpstreamConfig, path: string): URL {
  if (baseUrl === undefined) throw new ServiceError('internal_error', 'The upstream of this model has no address.');
  const url = new URL(baseUrl);
  url.pathname = trimmedPath(url) + path;
  url.hash = '';
  return url;
}

/** The path of a URL without slashes at its end. */
export function trimmedPath(url: URL): string {
  return withoutTrailingSlashes(url.pathname);
}

/** Headers of an event stream request: those of the protocol, and over them those that the upstream configures. */
export function streamHeaders(
  protocolHeaders: Readonly<Record<string, string>>,
  upstream: UpstreamConfig,
): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...protocolHeaders,
  };
  // Names in lower case, so that a configured `Authorization` replaces ours instead of standing beside it.
  for (const [name, value] of Object.entries(upstream.headers)) headers[name.toLowerCase()] = value;
  return headers;
}
