import { Logger } from '@nestjs/common';
import type { Server } from 'node:http';
import { refuseExpectation } from '../routing/outer-middleware.js';
import type { RequestHandler } from './client-connection.js';
import type { ClientConnections } from './client-connections.js';
import { respondToClientErrors } from './client-error.js';

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
