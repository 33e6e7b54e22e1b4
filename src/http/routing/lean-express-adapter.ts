// The index of the package also loads its support for file uploads.
import { ExpressAdapter } from '@nestjs/platform-express/adapters/express-adapter.js';
import type { Express } from 'express';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { pathOutsideApi } from '../surface/outside-api.decorator.js';

/** The time limit for the headers of a request. The server disconnects a slower client. */
const HEADERS_TIMEOUT_MS = 10_000;
const TIMEOUT_CHECK_MS = 2_000;

/**
 * Creates requests and responses with the prototypes of Express from the beginning.
 *
 * Express normally changes the prototype of every request and response when it receives them. V8 then treats them as slow
 * objects for the rest of their lifetime, which is three quarters of the cost of Express.
 */
export class LeanExpressAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const app = this.getInstance<Express>();
    // The server has no listener yet: `serveConnections` passes the requests to Express.
    this.httpServer = createServer({
      IncomingMessage: withPrototype(IncomingMessage, app.request),
      ServerResponse: withPrototype<typeof ServerResponse<IncomingMessage>>(ServerResponse, app.response),
      // `begin` checks the header instead, and says in its response that the header is missing.
      requireHostHeader: false,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    });
  }

  /** Nest calls this method for each path, as the last step before it creates the route. */
  override normalizePath(path: string): string {
    return super.normalizePath(pathOutsideApi(path));
  }
}

type Constructor = new (...args: never[]) => object;

/**
 * Returns a constructor that creates objects like `Base`, but with `prototype`, which must inherit from `Base.prototype`.
 *
 * Returns `Base` itself if it is a class. Node implements its requests and responses as functions, not classes, so the
 * functions can be called on an existing object. `Reflect.construct` would work with both, but it costs more than this
 * adapter saves.
 */
function withPrototype<T extends Constructor>(Base: T, prototype: object): T {
  const isFunction = Object.getOwnPropertyDescriptor(Base, 'prototype')?.writable === true;
  if (!isFunction) return Base;
  function Derived(this: object, ...args: never[]): void {
    (Base as unknown as (...args: never[]) => void).call(this, ...args);
  }
  Derived.prototype = prototype;
  return Derived as unknown as T;
}
