import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { tap, type Observable } from 'rxjs';
import { OPENS_STREAM } from '../../throttling/process-load/opens-stream.decorator.js';

/** The responses whose head is held back. */
const held = new WeakSet<ServerResponse>();

/**
 * Makes global interceptors harmless for routes that stream. With any interceptor, Nest sends the status 200 of an event stream
 * before the handler has run, so an answer that cannot begin would look like a success. This interceptor comes before all
 * others, and holds the head back until the answer has an event or an error.
 *
 * Nest sends the head in a later turn of the event loop, unless the response has already ended. Therefore the response
 * pretends to have ended while its head is held back.
 */
export class HeldHead implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (Reflect.getMetadata(OPENS_STREAM, context.getHandler()) !== true) return next.handle();
    const response = context.switchToHttp().getResponse<ServerResponse>();
    Object.defineProperty(response, 'writableEnded', { configurable: true, get: () => true });
    const release = (): void => {
      if (held.delete(response)) Reflect.deleteProperty(response, 'writableEnded');
    };
    held.add(response);
    return next.handle().pipe(tap({ next: release, error: release, complete: release, unsubscribe: release }));
  }
}

/** Whether the head of the response waits for the first event. */
export function isHeadHeld(response: ServerResponse): boolean {
  return held.has(response);
}
