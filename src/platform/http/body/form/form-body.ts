import type { Request, Response } from 'express';
import { ServiceError } from '../../../common/service-error.js';
import type { BodyReader } from '../read-body.js';
import type { IncomingMessage } from 'node:http';

/** The maximum length of a `Content-Type`. The types of this API need at most 60 characters, including their parameter. */
const MAX_CHARACTERS = 256;

/**
 * Whether a `Content-Type` names `type` in UTF-8: without parameters, or with `charset=utf-8` as the only parameter (RFC
 * 9110, section 8.3.1). Case, quotes around the value, white space and empty parameters (`;`) make no difference.
 *
 * The function does not use a regular expression. Anyone can send the header, and this code takes a small, fixed number of
 * steps for every value.
 *
 * @param type in lower case, such as `application/json`.
 */
export function isUtf8MediaType(contentType: string | undefined, type: string): boolean {
  if (contentType === type) return true;
  if (contentType === undefined || contentType.length > MAX_CHARACTERS) return false;
  const [name, ...rest] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const parameters = rest.filter((part) => part !== '');
  return name === type && (parameters.length === 0 || (parameters.length === 1 && parameters.every(isUtf8Charset)));
}

/** @throws {ServiceError} `unsupported_media_type` for a body of another type, and for a compressed body. */
export function requireUtf8Body({ headers }: IncomingMessage, type: string): void {
  if (!isUtf8MediaType(headers['content-type'], type)) {
    throw new ServiceError('unsupported_media_type', `The body must be ${type} in UTF-8.`);
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new ServiceError('unsupported_media_type', 'The body must not be compressed.');
  }
}

function isUtf8Charset(parameter: string): boolean {
  const equalsSign = parameter.indexOf('=');
  const name = parameter.slice(0, equalsSign).trim();
  const value = parameter.slice(equalsSign + 1).trim();
  return name === 'charset' && (value === 'utf-8' || value === '"utf-8"');
}

const MAX_FORM_BYTES = 64 * 1024;
const MAX_FIELDS = 100;

/**
 * Reads a form.
 *
 * @throws {ServiceError} if the body is not a form, or contains a field twice.
 */
export async function readForm(
  request: Request,
  response: Response,
  reader: BodyReader,
): Promise<Readonly<Record<string, string>>> {
  // Browsers encode forms in the encoding of the page, which is UTF-8 here. They do not name the encoding in the header.
  requireUtf8Body(request, 'application/x-www-form-urlencoded');
  return parseForm(await reader.read(request, response, MAX_FORM_BYTES));
}

function parseForm(bytes: Buffer): Readonly<Record<string, string>> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(decodable(bytes))) {
    const message = fields.has(name) ? 'appears twice' : name in Object.prototype ? 'is not a known field' : undefined;
    if (message !== undefined) {
      throw new ServiceError('invalid_request', 'The form is invalid.', { details: [{ field: name, message }] });
    }
    if (fields.size === MAX_FIELDS) {
      throw new ServiceError('invalid_request', `The form must not have more than ${MAX_FIELDS} fields.`);
    }
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

/**
 * Decodes the text and checks that all of it is UTF-8. URLSearchParams would replace invalid bytes with a replacement
 * character.
 */
function decodable(bytes: Buffer): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    decodeURIComponent(text);
    return text;
  } catch {
    throw new ServiceError('invalid_request', 'The form is invalid UTF-8.');
  }
}
