import { ServiceError } from '../../../platform/common/service-error.js';
import { withoutTrailingSlashes } from '../../../platform/common/text/cut-text.js';
import type { UpstreamConfig } from '../../../platform/config/config.js';
import { z } from 'zod';

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

const GLOBAL = 'global';

/** The options of a protocol that Vertex AI also offers. */
export const VERTEX_OPTIONS = {
  /** The project at Google Cloud. With a project, requests go to Vertex AI. */
  project: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.:-]{0,98}$/, 'must be the id or the number of a project')
    .optional(),
  /** A region, a multi-region (`us` or `eu`), or `global`, the default. */
  location: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'must be a region, such as europe-west1, or us, eu or global')
    .optional(),
};

/** A place of Vertex AI, as the options of an upstream name it. */
interface VertexPlace {
  readonly project?: string | undefined;
  readonly location?: string | undefined;
}

/**
 * Returns the address of Vertex AI for a location. `undefined`: the upstream is not at Vertex AI. Looked up on 2026-11-26 at
 * docs.cloud.google.com, "Deployments and endpoints": regions have a prefix, multi-regions a domain of their own, and `global` neither.
 */
export function vertexBaseUrl({ project, location = GLOBAL }: VertexPlace): URL | undefined {
  if (project === undefined) return undefined;
  if (location === GLOBAL) return new URL('https://aiplatform.googleapis.com');
  const isMultiRegion = location === 'us' || location === 'eu';
  return new URL(
    isMultiRegion
      ? `https://aiplatform.${location}.rep.googleapis.com`
      : `https://${location}-aiplatform.googleapis.com`,
  );
}

/** Returns the path of a model of Vertex AI. `undefined`: the upstream is not at Vertex AI. */
export function vertexPath(
  { project, location = GLOBAL }: VertexPlace,
  publisher: string,
  model: string,
): string | undefined {
  if (project === undefined) return undefined;
  return `/v1/projects/${project}/locations/${location}/publishers/${publisher}/models/${model}`;
}
