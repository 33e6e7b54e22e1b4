import { z } from 'zod';

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
