import type { IncomingMessage } from 'node:http';
import { readBody } from './read-body.js';
import { ServiceError } from './service-error.js';

const FORM_LIMIT_BYTES = 64 * 1024;
/** Browsers write forms in the encoding of the page, which is UTF-8 here, and do not say so. */
const FORM_IN_UTF8 = /^application\/x-www-form-urlencoded\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i;

/** Reads a form. @throws {ServiceError} when it is not one, or holds a field twice. */
export async function readForm(request: IncomingMessage): Promise<Readonly<Record<string, string>>> {
  const { headers } = request;
  if (!FORM_IN_UTF8.test(headers['content-type'] ?? '')) {
    throw new ServiceError('unsupported_media_type', 'The body must be application/x-www-form-urlencoded in UTF-8.');
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new ServiceError('unsupported_media_type', 'The body must not be compressed.');
  }
  return parseForm(await readBody(request, FORM_LIMIT_BYTES));
}

function parseForm(bytes: Buffer): Readonly<Record<string, string>> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(decodable(bytes))) {
    const message = fields.has(name) ? 'is there twice' : name in Object.prototype ? 'is not a known field' : undefined;
    if (message !== undefined) {
      throw new ServiceError('invalid_request', 'The form is not valid.', { details: [{ field: name, message }] });
    }
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

/** The text, if all of it is UTF-8: URLSearchParams would put a replacement character for what is not. */
function decodable(bytes: Buffer): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    decodeURIComponent(text);
    return text;
  } catch {
    throw new ServiceError('invalid_request', 'The form is not valid UTF-8.');
  }
}
