import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../common/service-error.js';

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
