// The index of the package also loads its support for file uploads.
import { ExpressAdapter } from '@nestjs/platform-express/adapters/express-adapter.js';
import type { Express } from 'express';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { realMs } from '../../common/timers/pace.js';
import { pathOutsideApi } from '../surface/surface.decorator.js';

/** The time limit for the headers of a request. The server disconnects a slower client. */
const HEADERS_TIMEOUT_MS = 10_000;
const TIMEOUT_CHECK_MS = 2_000;

/**
 * Creates requests and responses with the prototypes of Express from the beginning.
 *
 * Express normally changes the prototype of every request and response when it receives them. V8 then treats them as slow
 * objects for the rest of their lifetime, which is three quarters of the cost of Express. `request-objects.test.ts` shows that V8
 * treats these as fast objects.
 */
export class LeanExpressAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const app = this.getInstance<Express>();
    // The server has no listener yet: `serveConnections` passes the requests to Express.
    class ExpressRequest extends IncomingMessage {}
    class ExpressResponse extends ServerResponse {}
    app.request = inheriting(ExpressRequest.prototype, app.request);
    app.response = inheriting(ExpressResponse.prototype, app.response);
    this.httpServer = createServer({
      IncomingMessage: ExpressRequest,
      ServerResponse: ExpressResponse,
      // `begin` checks the header instead, and says in its response that the header is missing.
      requireHostHeader: false,
      headersTimeout: realMs(HEADERS_TIMEOUT_MS),
      connectionsCheckingInterval: realMs(TIMEOUT_CHECK_MS),
    });
  }

  /** Nest calls this method for each path, as the last step before it creates the route. */
  override normalizePath(path: string): string {
    return super.normalizePath(pathOutsideApi(path));
  }
}

/** Makes a prototype inherit from the prototype of Express, which inherits from that of Node. */
function inheriting<Prototype extends object>(prototype: object, express: Prototype): Prototype {
  return Object.setPrototypeOf(prototype, express) as Prototype;
}
