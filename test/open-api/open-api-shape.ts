import { z } from 'zod';

/** The parts of OpenAPI 3.1 that our document uses, each with every member that the specification allows there. */

const Reference = z.strictObject({ $ref: z.string().startsWith('#/components/') });

const TypeName = z.enum(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

/** JSON Schema 2020-12, as far as a document like ours needs it: `nullable` and the like of OpenAPI 3.0 are not of it. */
const Schema: z.ZodType = z.lazy(() =>
  z.strictObject({
    $ref: z.string().startsWith('#/components/schemas/').optional(),
    type: z.union([TypeName, z.array(TypeName).min(2)]).optional(),
    format: z.string().optional(),
    description: z.string().optional(),
    enum: z.array(z.unknown()).min(1).optional(),
    const: z.unknown().optional(),
    default: z.unknown().optional(),
    example: z.unknown().optional(),
    examples: z.array(z.unknown()).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: z.int().min(0).optional(),
    maxLength: z.int().min(0).optional(),
    pattern: z.string().optional(),
    items: Schema.optional(),
    minItems: z.int().min(0).optional(),
    maxItems: z.int().min(0).optional(),
    properties: z.record(z.string(), Schema).optional(),
    required: z.array(z.string()).min(1).optional(),
    additionalProperties: z.union([z.boolean(), Schema]).optional(),
    allOf: z.array(Schema).min(1).optional(),
    anyOf: z.array(Schema).min(1).optional(),
    oneOf: z.array(Schema).min(1).optional(),
  }),
);

const MediaType = z.strictObject({ schema: Schema.optional(), example: z.unknown().optional() });
const Content = z.record(z.string().regex(/^[\w.+*-]+\/[\w.+*-]+$/), MediaType);

const Header = z.strictObject({ description: z.string().optional(), required: z.boolean().optional(), schema: Schema });

const Response = z.strictObject({
  description: z.string(),
  headers: z.record(z.string(), Header).optional(),
  content: Content.optional(),
});

const Parameter = z.strictObject({
  name: z.string(),
  in: z.enum(['query', 'header', 'path', 'cookie']),
  description: z.string().optional(),
  required: z.boolean().optional(),
  schema: Schema,
});

const SecurityRequirement = z.record(z.string(), z.array(z.string()));

const Operation = z.strictObject({
  operationId: z.string(),
  summary: z.string().optional(),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  parameters: z.array(z.union([Parameter, Reference])).optional(),
  requestBody: z
    .strictObject({ description: z.string().optional(), required: z.boolean().optional(), content: Content })
    .optional(),
  responses: z.record(z.string().regex(/^([1-5]\d\d|default)$/), z.union([Response, Reference])),
  security: z.array(SecurityRequirement).optional(),
  deprecated: z.boolean().optional(),
});

const PathItem = z.partialRecord(
  z.enum(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']),
  Operation,
);

const SecurityScheme = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('http'),
    scheme: z.string(),
    bearerFormat: z.string().optional(),
    description: z.string().optional(),
  }),
  z.strictObject({
    type: z.literal('apiKey'),
    name: z.string(),
    in: z.enum(['query', 'header', 'cookie']),
    description: z.string().optional(),
  }),
]);

export const OpenApiDocument = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.strictObject({
    title: z.string().min(1),
    version: z.string().min(1),
    description: z.string().optional(),
    contact: z
      .strictObject({ name: z.string().optional(), url: z.url().optional(), email: z.email().optional() })
      .optional(),
    license: z
      .strictObject({ name: z.string(), identifier: z.string().optional(), url: z.url().optional() })
      .optional(),
  }),
  servers: z.array(z.strictObject({ url: z.string(), description: z.string().optional() })).optional(),
  tags: z.array(z.strictObject({ name: z.string(), description: z.string().optional() })).optional(),
  security: z.array(SecurityRequirement).optional(),
  paths: z.record(z.string().startsWith('/'), PathItem),
  components: z.strictObject({
    schemas: z.record(z.string().regex(/^[\w.-]+$/), Schema),
    securitySchemes: z.record(z.string().regex(/^[\w.-]+$/), SecurityScheme).optional(),
  }),
});

export type OpenApiDocument = z.infer<typeof OpenApiDocument>;
