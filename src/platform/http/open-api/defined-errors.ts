import type { OpenAPIObject } from '@nestjs/swagger';
import type { DefinedError } from '../../common/service-error.js';
import { ExtensionPoint } from '../../common/extensions/extensions.js';
import { errorResponse } from './error-response.js';

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
