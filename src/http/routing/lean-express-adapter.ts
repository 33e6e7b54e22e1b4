import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { pathOutsideApi } from './outside-api.decorator.js';

/** A client that takes longer to send the headers of a request is disconnected. */
const HEADERS_TIMEOUT_MS = 10_000;
const TIMEOUT_CHECK_MS = 2_000;

/**
 * Express gives every request and response its own prototype when it gets them, which makes both slow objects for the
 * rest of their lives: three quarters of what Express costs. Here the server makes them with that prototype from the
 * beginning, so that nothing is left to change.
 */
export class LeanExpressAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const app = this.getInstance<Express>();
    // It gets no listener here: `serveConnections` hands the requests to Express.
    this.httpServer = createServer({
      IncomingMessage: withPrototype(IncomingMessage, app.request),
      ServerResponse: withPrototype<typeof ServerResponse<IncomingMessage>>(ServerResponse, app.response),
      // See `begin`, which says what is wrong.
      requireHostHeader: false,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    });
  }

  /** Asked for each path, last before its route is made. */
  override normalizePath(path: string): string {
    return super.normalizePath(pathOutsideApi(path));
  }
}

type Constructor = new (...args: never[]) => object;

/**
 * The constructor of what `Base` makes, with `prototype`, which inherits from that of `Base`. `Base` itself where it is a
 * class: those of Node are functions, which alone can be called on an object that is there. `Reflect.construct`, which
 * takes both, would cost more than is saved.
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
