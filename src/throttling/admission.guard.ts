import { Injectable, Optional, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DrainState } from '../platform/common/drain-state.js';
import type { RequestLease } from './request-lease.js';
import { callOf, RepeatedRequests, RequestLimiter, type LimitedRequest } from './request-limiter.js';

/** What the limits give to a request that they have counted. */
interface CountedRequest {
  /** `undefined`: no limit applies. */
  readonly lease: RequestLease | undefined;
  /** True when the request was admitted before the process began to stop. */
  readonly isAdmitted: boolean;
}

declare module '../platform/http/request/request-context.js' {
  interface RequestContext {
    /** Set by `AdmissionGuard`. `undefined`: the limits do not count the request. */
    counted?: CountedRequest;
  }
}

/**
 * Global guard, the last one: counts the request against the limits of its tier, with the tokens that its valid body asks for.
 * A request that repeats another one is not counted.
 */
@Injectable()
export class AdmissionGuard implements CanActivate {
  constructor(
    private readonly limiter: RequestLimiter,
    private readonly drainState: DrainState,
    @Optional() private readonly repeated?: RepeatedRequests,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const { limited } = request.context;
    return limited === undefined ? true : this.admit(request, http.getResponse<Response>(), limited, context);
  }

  private async admit(
    request: Request,
    response: Response,
    limited: LimitedRequest,
    execution: ExecutionContext,
  ): Promise<boolean> {
    let counts = false;
    try {
      // Most requests repeat nothing, and need not wait.
      const claim = limited.counts ? this.repeated?.claim(execution) : true;
      counts = !(typeof claim === 'object' ? await claim : claim);
    } finally {
      if (!counts) await this.limiter.showLimits(request, response);
    }
    if (counts) {
      const lease = await this.limiter.admit(callOf(request), limited, response);
      request.context.counted = { lease, isAdmitted: this.drainState.admit(response) };
    }
    return true;
  }
}
