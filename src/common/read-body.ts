import type { IncomingMessage } from 'node:http';
import { ServiceError } from './service-error.js';

/**
 * The whole body of a request.
 *
 * @throws {ServiceError} `payload_too_large` above `limitBytes`, before the rest is taken in.
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    request.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length > limitBytes) reject(tooLarge(limitBytes));
      else pieces.push(piece);
    });
    request.on('end', () => {
      resolve(pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces, length));
    });
    request.on('error', () => {
      reject(new ServiceError('invalid_request', 'The body broke off.'));
    });
  });
}

/** The rest is let go by as it comes: a connection that is cut instead can lose the answer. */
function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError('payload_too_large', `The body must not be larger than ${limitBytes} bytes.`);
}
