import type { RefusedKey } from '../../accounts/api-keys/api-key-verifier.js';
import type { Principal } from '../../auth/principal/principal.js';
import type { ErrorCode } from '../common/service-error.js';
import type { UsageRecord } from '../../usage/record/usage-record.js';
import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import '../../chat/durable-request.js';
import { callerIn } from '../../auth/session/request-session.js';

/** The facts about a finished request. They contain no text of the client, except a well-formed request id, and where a member says so. */
export interface FinishedRequest {
  readonly requestId: string;
  /** `undefined`: traces are disabled. */
  readonly traceId: string | undefined;
  /** The address of the client, as TRUST_PROXY determines it. Computed when it is read. */
  readonly clientAddress: string | undefined;
  readonly method: string;
  /** The pattern of the path. `undefined`: the request matched no route. */
  readonly route: string | undefined;
  /** `undefined`: the client left before the response started. */
  readonly status: number | undefined;
  /** True when the whole response has left this process. */
  readonly isComplete: boolean;
  readonly durationMs: number;
  /** The size of the response in bytes, including headers. */
  readonly bytes: number;
  /** The authenticated caller. `undefined`: the caller is unknown, or the route does not authenticate callers. */
  readonly principal: Principal | undefined;
  /** The known key of a request that was refused because of this key. */
  readonly refusedKey?: RefusedKey | undefined;
  /** The error code that the client received, in an error response or at the end of a stream. */
  readonly errorCode: ErrorCode | undefined;
  /** The message of the error response. It can contain text of the caller. */
  readonly errorMessage?: string | undefined;
  /** The model that the body names: text of the caller. `undefined`: the body was not read, or names none. */
  readonly requestedModel?: string | undefined;
  /** The name of the limit of the tier, or of the rate of the route, that has refused the request. */
  readonly refusedBy: string | undefined;
  /** For a durable stream, whether the request has begun the stream or has read it again. `undefined`: any other request. */
  readonly durable?: 'new' | 'repeated' | undefined;
  /** The record of the stream. `undefined`: the request has no admitted stream. */
  readonly record: UsageRecord | undefined;
}

/** Is notified of each finished request. */
export interface RequestObserver {
  finished(request: FinishedRequest): void;
}

/** A scope that contains each request from its start, for example a trace span. */
export interface RequestScope {
  /** Returns `undefined` for a request that runs outside of the scope. */
  begin(request: IncomingMessage): ScopedRequest | undefined;
}

export interface ScopedRequest extends RequestObserver {
  /** The id of the request in other systems. */
  readonly traceId: string;
  run(next: () => void): void;
  finished(request: FinishedRequest): void;
}

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
      // Not later: Nest ends the response of a client that has left.
      const status = response.headersSent ? response.statusCode : undefined;
      const isComplete = response.writableFinished;
      const report = (record?: UsageRecord): void => {
        const { traceId } = scoped ?? {};
        const facts = new RequestFacts(request, { durationMs, bytes, status, isComplete, record, traceId });
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

type Observed = Pick<FinishedRequest, 'durationMs' | 'bytes' | 'status' | 'isComplete' | 'record' | 'traceId'>;

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
    { durationMs, bytes, status, isComplete, record, traceId }: Observed,
  ) {
    const { context } = request;
    this.durationMs = durationMs;
    this.bytes = bytes;
    this.record = record;
    this.traceId = traceId;
    this.requestId = context.requestId;
    this.method = request.method;
    this.route = routeOf(request);
    this.status = status;
    this.isComplete = isComplete;
    this.principal = callerIn(context);
    this.errorCode = context.sentError?.code ?? record?.errorCode;
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
    return this.request.context.sentError?.message;
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
