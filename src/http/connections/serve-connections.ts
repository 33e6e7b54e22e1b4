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
  respondToClientErrors(server, (socket) => connections.of(socket)?.mayReportParserError ?? true);
}
