import { Logger } from '@nestjs/common';
import { type Server, STATUS_CODES } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { refuseExpectation } from '../routing/outer-middleware.js';
import type { RequestHandler } from './client-connection.js';
import type { ClientConnections } from './client-connections.js';
import { ServiceError } from '../../common/service-error.js';
import { destroyAfter } from '../../common/timers/timeouts.js';
import { errorBody } from '../errors/send-error.js';
import { REQUEST_ID_HEADER } from '../request/request-context.js';

/**
 * Passes the requests of `server` to `handle`. Requests of the same connection are handled one after the other. The server
 * must not listen yet.
 */
export function serveConnections(server: Server, connections: ClientConnections, handle: RequestHandler): void {
  connections.watch(server);
  server.on('request', (request, response) => {
    connections.take(request, response, handle);
  });
  server.on('checkExpectation', (request, response) => {
    connections.take(request, response, refuseExpectation);
  });
  logAcceptFailures(server);
  respondToClientErrors(server, (socket) => connections.of(socket)?.mayReportParserError ?? true);
}

/**
 * Logs the errors of a server that listens: the operating system can fail to accept a connection, for example when the process
 * has too many open files. The server still listens. Without a listener, the error would end the process.
 */
export function logAcceptFailures(server: Server): void {
  server.once('listening', () => {
    server.on('error', (error) => {
      new Logger('Http').error({ msg: 'A connection cannot be accepted', reason: String(error) });
    });
  });
}

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
function respondToClientErrors(server: Server, mayRespond: (socket: Socket) => boolean): void {
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
    destroyAfter(LINGER_MS, socket);
  });
}
