import type { OpenAPIObject } from '@nestjs/swagger';
import { z } from 'zod';
import { operationsOf, schemaPath } from '../../../plugin-api/core/http.js';
import { CHAT_COMPLETION_SCHEMAS } from './chat-completion-schemas.js';
import { AnthropicErrorBody, OpenAiErrorBody } from './common-schemas.js';
import { MESSAGE_SCHEMAS } from './message-schemas.js';
import { RESPONSE_SCHEMAS } from './response-schemas.js';
import { CAPABILITIES } from '../../../plugin-api/core/config.js';

const OpenAiModel = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.literal(0).describe('The service does not know the time.'),
  owned_by: z.string().describe('The display name of the provider.'),
  name: z.string().describe('The display name of the model.'),
  context_length: z.int().min(1).describe('The maximum number of tokens of a prompt and its answer.'),
  max_output_tokens: z.int().min(1).nullable().describe('The maximum number of tokens of an answer, if known.'),
  capabilities: z.array(z.enum(CAPABILITIES)).describe('What the model can take besides texts.'),
});

const Supported = z.looseObject({ supported: z.boolean() });

const AnthropicModel = z.object({
  type: z.literal('model'),
  id: z.string(),
  display_name: z.string(),
  created_at: z.string().describe('Always the beginning of 1970: the service does not know the time.'),
  max_input_tokens: z.int().min(1).describe('The maximum number of tokens of a prompt and its answer.'),
  max_tokens: z.int().min(1).nullable().describe('The maximum number of tokens of an answer, if known.'),
  capabilities: z.object({}).catchall(Supported).describe('What the model can take besides texts.'),
});

export const MODEL_SCHEMAS = {
  OpenAiModel,
  AnthropicModel,
  OpenAiModelList: z.object({ object: z.literal('list'), data: z.array(OpenAiModel) }),
  AnthropicModelList: z.object({
    data: z.array(AnthropicModel),
    has_more: z.literal(false),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  }),
};

const SCHEMAS = {
  ...CHAT_COMPLETION_SCHEMAS,
  ...RESPONSE_SCHEMAS,
  ...MESSAGE_SCHEMAS,
  ...MODEL_SCHEMAS,
  OpenAiErrorBody,
  AnthropicErrorBody,
};
type SchemaName = keyof typeof SCHEMAS;
type Operation = ReturnType<typeof operationsOf> extends Generator<infer Yielded> ? Yielded : never;

interface Bodies {
  readonly request?: SchemaName;
  /** One schema, or one for each format. */
  readonly answer: readonly SchemaName[];
  /** The data of the events of a stream. */
  readonly event?: SchemaName;
  readonly error: readonly SchemaName[];
}

/** The bodies of the operations, by the id of the operation. */
const OPERATIONS: Readonly<Record<string, Bodies>> = {
  createChatCompletion: {
    request: 'ChatCompletionRequest',
    answer: ['ChatCompletion'],
    event: 'ChatCompletionChunk',
    error: ['OpenAiErrorBody'],
  },
  createResponse: {
    request: 'ResponseRequest',
    answer: ['Response'],
    event: 'ResponseEvent',
    error: ['OpenAiErrorBody'],
  },
  createMessage: {
    request: 'MessageRequest',
    answer: ['Message'],
    event: 'MessageEvent',
    error: ['AnthropicErrorBody'],
  },
  countMessageTokens: { request: 'CountTokensRequest', answer: ['TokenCount'], error: ['AnthropicErrorBody'] },
  listCompatibleModels: {
    answer: ['OpenAiModelList', 'AnthropicModelList'],
    error: ['OpenAiErrorBody', 'AnthropicErrorBody'],
  },
  getCompatibleModel: { answer: ['OpenAiModel', 'AnthropicModel'], error: ['OpenAiErrorBody', 'AnthropicErrorBody'] },
};

const messages = [{ role: 'user', content: 'Hello!' }];
/** The members of a short request, without the model. */
const EXAMPLES: Readonly<Partial<Record<SchemaName, object>>> = {
  ChatCompletionRequest: { messages },
  ResponseRequest: { input: 'Hello!' },
  MessageRequest: { max_tokens: 1_000, messages },
  CountTokensRequest: { messages },
};

const KEY_SCHEME = 'x-api-key';
const KEY_HEADER = {
  type: 'apiKey',
  in: 'header',
  name: KEY_SCHEME,
  description: 'An API key. Read at the paths of the compatible interfaces, if the request has no `Authorization`.',
} as const;

/**
 * Adds the bodies of the compatible interfaces to the document, and the header that their clients use for the key.
 *
 * @param model the id of a model of the service, for requests that work in "Try it out".
 */
export function describeCompatibleApis(document: OpenAPIObject, model = 'vendor/model'): void {
  let isPartOfTheService = false;
  for (const operation of operationsOf(document)) {
    const bodies = OPERATIONS[operation.operationId ?? ''];
    if (bodies === undefined) continue;
    isPartOfTheService = true;
    describe(operation, bodies, model);
    // Public operations read a key, but need none.
    operation.security = [...(operation.security ?? [{}, { bearer: [] }]), { [KEY_SCHEME]: [] }];
  }
  if (!isPartOfTheService) return;
  const { schemas, securitySchemes } = document.components ?? {};
  document.components = {
    ...document.components,
    schemas: { ...schemas, ...jsonSchemas() },
    securitySchemes: { ...securitySchemes, [KEY_SCHEME]: KEY_HEADER },
  };
}

function describe(operation: Operation, { request, answer, event, error }: Bodies, model: string): void {
  if (request !== undefined) {
    const media = { schema: referenceTo([request]), example: { model, ...EXAMPLES[request] } };
    operation.requestBody = { required: true, content: { 'application/json': media } };
  }
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response === undefined || !('description' in response)) continue;
    const isAnswer = status === '200';
    response.content = {
      'application/json': { schema: referenceTo(isAnswer ? answer : error) },
      ...(isAnswer && event !== undefined && { 'text/event-stream': { schema: eventStreamOf(event) } }),
    };
  }
}

function referenceTo(names: readonly SchemaName[]): Record<string, unknown> {
  const references = names.map((name) => ({ $ref: schemaPath(name) }));
  return references.length === 1 ? { ...references[0] } : { oneOf: references };
}

function eventStreamOf(event: SchemaName) {
  return {
    type: 'string' as const,
    description: `Server-sent events, with \`"stream": true\`. The data of each event is a \`${event}\` as JSON, or an error.`,
  };
}

/** Returns the schemas as JSON Schema. A schema that another one contains is a reference. */
function jsonSchemas(): Record<string, object> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { ...OPTIONS, uri: schemaPath });
  for (const schema of Object.values(schemas)) {
    delete schema.$id;
    delete schema.$schema;
  }
  return schemas;
}

const OPTIONS: z.core.ToJSONSchemaParams = {
  io: 'input',
  unrepresentable: 'any',
  override({ zodSchema, jsonSchema }) {
    // The first schema of a pipe only refuses values with a better message.
    if (zodSchema instanceof z.ZodPipe) Object.assign(jsonSchema, z.toJSONSchema(zodSchema.def.out, OPTIONS));
    delete jsonSchema.$schema;
    // The bounds of an integer without bounds.
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  },
};
