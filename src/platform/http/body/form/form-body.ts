import type { Request, Response } from 'express';
import { ServiceError } from '../../../common/service-error.js';
import { requireUtf8Body } from '../media-type.js';
import type { BodyReader } from '../read-body.js';

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
