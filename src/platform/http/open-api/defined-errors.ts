import type { OpenAPIObject, ApiResponseOptions } from '@nestjs/swagger';
import type { DefinedError } from '../../common/service-error.js';
import { ExtensionPoint } from '../../common/extensions/extensions.js';
import { RATE_LIMIT_HEADERS, schemaPath, REQUEST_ID } from './api-decorators.js';

type HeadersByName = ApiResponseOptions['headers'];
type ResponseObject = Exclude<
  NonNullable<OpenAPIObject['paths'][string]['get']>['responses'][string],
  { $ref: string } | undefined
>;

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer' as const } },
};
const HEADERS: Readonly<Record<number, HeadersByName>> = {
  401: { 'WWW-Authenticate': { description: 'The challenge of RFC 6750.', schema: { type: 'string' } } },
  429: { ...RETRY_AFTER, ...RATE_LIMIT_HEADERS },
  503: RETRY_AFTER,
};

/**
 * The description of an error response, for the OpenAPI document.
 *
 * @param texts one for each error code of the response.
 */
export function errorResponse(status: number, texts: readonly string[]): ResponseObject {
  return {
    description: texts.join(', '),
    headers: { ...HEADERS[status] },
    content: { 'application/json': { schema: { $ref: schemaPath('ErrorBody') } } },
  };
}

/** The errors of plugins. */
export const DEFINED_ERRORS = new ExtensionPoint<DefinedError>('errors');

type Operation = NonNullable<OpenAPIObject['paths'][string]['post']>;

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/**
 * Adds the errors of plugins to the document: to the codes of error bodies, and to the operations whose responses can be
 * refused by the hooks of plugins, which are those that stream.
 */
export function describeErrors(document: OpenAPIObject, errors: readonly DefinedError[]): void {
  if (errors.length === 0) return;
  const codes = codesIn(document);
  codes?.push(...errors.map((error) => error.code));
  for (const operation of operationsOf(document)) {
    if (operation.responses['200'] !== undefined && streams(operation)) describe(operation, errors);
  }
}

/** The codes of error bodies, in the schema of the document. */
function codesIn({ components }: OpenAPIObject): unknown[] | undefined {
  const report = components?.schemas?.['ErrorReport'] as { properties?: { code?: { enum?: unknown[] } } } | undefined;
  return report?.properties?.code?.enum;
}

/** Every operation of the document. */
export function* operationsOf(document: OpenAPIObject): Generator<Operation> {
  for (const path of Object.values(document.paths)) {
    for (const method of METHODS) {
      const operation = path[method];
      if (operation !== undefined) yield operation;
    }
  }
}

function streams({ responses }: Operation): boolean {
  const response = responses['200'];
  return response !== undefined && 'content' in response && 'text/event-stream' in (response.content ?? {});
}

function describe({ responses }: Operation, errors: readonly DefinedError[]): void {
  for (const { code, status, description } of errors) {
    const known = responses[String(status)];
    const text = `\`${code}\`: ${description}`;
    if (known !== undefined && 'description' in known) known.description = `${known.description}, ${text}`;
    else responses[String(status)] = { ...errorResponse(status, [text]), ...errorContent(responses) };
  }
}

/** Returns the body of the errors that an operation has: the operations of a surface have another body than `ErrorBody`. */
function errorContent({ '400': invalid }: Operation['responses']): Pick<ReturnType<typeof errorResponse>, 'content'> {
  return invalid !== undefined && 'content' in invalid ? { content: invalid.content } : {};
}

/** Adds what every operation has: the request id of each response, and the response to a bug. */
export function describeResponses(document: OpenAPIObject): void {
  for (const { responses } of operationsOf(document)) {
    responses['500'] ??= errorResponse(500, ['`internal_error`']);
    for (const response of Object.values(responses)) {
      if (response !== undefined && 'description' in response) {
        response.headers = { ...REQUEST_ID, ...response.headers };
      }
    }
  }
}

/** Closes the request for unknown members, and gives "Try it out" a request that works with the models of this service. */
export function describeChatRequest(document: OpenAPIObject, model = 'vendor/model'): void {
  const { ChatRequest, ChatRequestMessage } = document.components?.schemas ?? {};
  if (ChatRequest === undefined || ChatRequestMessage === undefined) return;
  const example = { model, messages: [{ role: 'user', content: 'Hello!' }] };
  Object.assign(ChatRequest, { additionalProperties: false, example });
  Object.assign(ChatRequestMessage, { additionalProperties: false });
}
