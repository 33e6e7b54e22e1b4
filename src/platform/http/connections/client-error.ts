import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { ServiceError } from '../../common/service-error.js';
import { errorBody } from '../errors/send-error.js';
import { REQUEST_ID_HEADER } from '../request/request-context.js';

const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * How long the client may take to read the response, in milliseconds. The response could be lost if the connection closed at
 * once.
 */
const LINGER_MS = 2_000;

/**
 * Responds to requests that Node's HTTP parser refuses, with the error body of the API, and closes the connection.
 *
 * @param mayRespond returns false while another request of the connection is in progress. The client would take the
 *   error for the response to that request.
 */
export function respondToClientErrors(server: Server, mayRespond: (socket: Socket) => boolean): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0 || !mayRespond(socket)) {
      socket.destroy();
      return;
    }
    const status = STATUS_BY_CODE[error.code ?? ''] ?? 400;
    const requestId = randomUUID();
    const refusal =
      status === 413
        ? new ServiceError('payload_too_large', 'The extensions of the chunks are too long.')
        : new ServiceError('invalid_request', 'The server cannot parse this request.');
    const body = JSON.stringify(errorBody(refusal, requestId));
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `${REQUEST_ID_HEADER}: ${requestId}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    const closing = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => {
      clearTimeout(closing);
    });
  });
}
