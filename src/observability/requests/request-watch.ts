import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import '../../chat/durable/durable-request.js';
import type { RefusedKey } from '../../accounts/api-keys/api-key-verifier.js';
import type { Principal } from '../../auth/principal/principal.js';
import { callerIn } from '../../auth/session/request-session.js';
import type { ErrorCode } from '../../common/service-error.js';
import type { UsageRecord } from '../../usage/record/usage-record.js';
import type { FinishedRequest, RequestObserver } from './finished-request.js';
import type { RequestScope, ScopedRequest } from './request-scope.js';

/**
 * Watches each request and notifies the observers when the request and its stream are over. This costs nothing
 * while there are no observers.
 */
@Injectable()
export class RequestWatch {
  private readonly observers: RequestObserver[] = [];
  private scope: RequestScope | undefined;

  observe(observer: RequestObserver): void {
    this.observers.push(observer);
  }

  /** Runs each request from now on inside of `scope`. */
  runIn(scope: RequestScope): void {
    this.scope = scope;
  }

  /** Must be the first middleware. */
  use(request: Request, response: Response, next: NextFunction): void {
    const scoped = this.scope?.begin(request);
    if (scoped !== undefined || this.observers.length > 0) this.watch(request, response, scoped);
    if (scoped === undefined) next();
    else scoped.run(next);
  }

  private watch(request: Request, response: Response, scoped: ScopedRequest | undefined): void {
    const { socket } = request;
    const startedAt = performance.now();
    const bytesBefore = socket.bytesWritten;
    response.on('close', () => {
      const durationMs = performance.now() - startedAt;
      const bytes = socket.bytesWritten - bytesBefore;
      const report = (record?: UsageRecord): void => {
        const facts = new RequestFacts(request, response, { durationMs, bytes, record, traceId: scoped?.traceId });
        scoped?.finished(facts);
        for (const observer of this.observers) observer.finished(facts);
      };
      // When a client leaves, the response closes before the stream has ended.
      const { ledgerEntry } = request.context;
      if (ledgerEntry === undefined) report();
      else ledgerEntry.whenOver(report);
    });
  }
}

type Observed = Pick<FinishedRequest, 'durationMs' | 'bytes' | 'record' | 'traceId'>;

/**
 * The getter stands in a class and not in an object literal: there, V8 creates a hidden class for each request, which keeps the
 * request in memory until the next full garbage collection.
 */
class RequestFacts implements FinishedRequest {
  readonly durationMs: number;
  readonly bytes: number;
  readonly record: UsageRecord | undefined;
  readonly traceId: string | undefined;
  readonly requestId: string;
  readonly method: string;
  readonly route: string | undefined;
  readonly status: number | undefined;
  readonly isComplete: boolean;
  readonly principal: Principal | undefined;
  readonly errorCode: ErrorCode | undefined;
  readonly durable: 'new' | 'repeated' | undefined;
  readonly refusedBy: string | undefined;

  constructor(
    private readonly request: Request,
    response: Response,
    { durationMs, bytes, record, traceId }: Observed,
  ) {
    const { context } = request;
    this.durationMs = durationMs;
    this.bytes = bytes;
    this.record = record;
    this.traceId = traceId;
    this.requestId = context.requestId;
    this.method = request.method;
    this.route = routeOf(request);
    this.status = response.headersSent ? response.statusCode : undefined;
    this.isComplete = response.writableFinished;
    this.principal = callerIn(context);
    this.errorCode = context.sentError ?? record?.errorCode;
    this.durable = context.durable?.kind;
    this.refusedBy = context.refusedBy;
  }

  get clientAddress(): string | undefined {
    return this.request.ip;
  }

  get refusedKey(): RefusedKey | undefined {
    return this.request.context.refusedKey;
  }

  get errorMessage(): string | undefined {
    return this.request.context.sentMessage;
  }

  get requestedModel(): string | undefined {
    const { model } = (this.request.body ?? {}) as { readonly model?: unknown };
    return typeof model === 'string' ? model : undefined;
  }
}

/**
 * Returns the registered path, because the requested path is text of the client. Nest's own catch-all path is not a route.
 */
function routeOf(request: Request): string | undefined {
  const route = request.route as { readonly path: unknown } | undefined;
  const path = route?.path;
  return typeof path === 'string' && path.startsWith('/') ? path : undefined;
}
