import { z } from 'zod';
import type { OpenApiDocument } from './open-api-shape.js';

type Method = 'get' | 'post';
interface Documented {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>> | undefined;
  readonly content?: Readonly<Record<string, { readonly schema?: unknown; readonly example?: unknown }>> | undefined;
}

/** What the document says of the answer with a status. Throws when it says nothing. */
export function documentedAnswer(document: OpenApiDocument, method: Method, path: string, status: number): Documented {
  const answer = document.paths[path]?.[method]?.responses[String(status)];
  if (answer === undefined || '$ref' in answer) throw new Error(`${method} ${path} does not document ${status}.`);
  return answer;
}

/** Checks values against a schema of the document, to which nothing may be added unless it is open. */
export function checkerOf(document: OpenApiDocument, schema: unknown, form: 'closed' | 'open' = 'closed'): z.ZodType {
  const json = JSON.stringify({
    ...(schema as object),
    $defs: document.components.schemas,
  }).replaceAll('#/components/schemas/', '#/$defs/');
  const parsed: unknown = JSON.parse(json);
  return z.fromJSONSchema((form === 'closed' ? close(parsed) : parsed) as Parameters<typeof z.fromJSONSchema>[0]);
}

/** The checker of a JSON answer. */
export function checkerOfAnswer(document: OpenApiDocument, method: Method, path: string, status: number): z.ZodType {
  const { content } = documentedAnswer(document, method, path, status);
  const schema = content?.['application/json']?.schema;
  if (schema === undefined) throw new Error(`${method} ${path} documents no JSON for ${status}.`);
  return checkerOf(document, schema);
}

/** A member that the document does not name is a fault of the answer or of the document. */
function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close);
  if (typeof schema !== 'object' || schema === null) return schema;
  const closed = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, close(value)]));
  return 'properties' in closed && closed.type === 'object' ? { additionalProperties: false, ...closed } : closed;
}
