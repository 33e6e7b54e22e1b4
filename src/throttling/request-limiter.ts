import { Injectable, Optional, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { principalOf } from '../auth/principal/principal.js';
import type { ServiceError } from '../platform/common/service-error.js';
import type { TierConfig } from '../platform/config/config.js';
import type { LimitedCall } from './account-limits.js';
import { refusalError, setLimitHeaders } from './limit-response.js';
import { admitToAll, type LimitGroup } from './joint-admission.js';
import { LimitStore, NO_TOKENS, type Limit, type Refusal, type TokenDemand } from './limit-store.js';
import type { TokenUse } from './limited-by-tier.decorator.js';
import { PluginLimits, type PluginLimit } from './plugin-limits.js';
import { StreamSlots } from './process-load/stream-slots.js';
import { RequestLease } from './request-lease.js';

/**
 * Recognizes requests that repeat an earlier one and are therefore not counted again. The class is the injection token. A plugin
 * provides it; without it, no request repeats another one.
 */
export abstract class RepeatedRequests {
  /**
   * Whether the request repeats an earlier one. Called only for requests that a limit would refuse.
   *
   * @throws {ServiceError} when the request cannot repeat another one because its key is malformed.
   */
  abstract isRepeat(context: ExecutionContext): Promise<boolean>;

  /**
   * Claims the request before the limits count it, when its body is known. Returns whether it repeats an earlier one.
   *
   * @throws {ServiceError} when the request is refused.
   */
  abstract claim(context: ExecutionContext): boolean | Promise<boolean>;
}

/** A request to a route that is `@LimitedByTier()`. */
export interface LimitedRequest {
  readonly accountId: string;
  readonly tier: TierConfig;
  readonly limits: readonly Limit[];
  /** How the request uses tokens. `undefined`: it uses none. */
  readonly tokenUse: TokenUse | undefined;
  /** False when the route only shows the limits. */
  readonly counts: boolean;
  readonly opensStream: boolean;
}

declare module '../platform/http/request/request-context.js' {
  interface RequestContext {
    /** Set by `TierThrottlerGuard`. `undefined` on a route without limits. */
    limited?: LimitedRequest;
    /** The name of the limit of the tier, or of the rate of the route, that has refused the request. */
    refusedBy?: string;
  }
}

const LIMIT_HEADER_PREFIX = 'X-RateLimit';

/** Applies the limits of the tier and the slots of the process to requests, in the order of the methods. */
@Injectable()
export class RequestLimiter {
  constructor(
    private readonly store: LimitStore,
    private readonly slots: StreamSlots,
    private readonly ofPlugins: PluginLimits,
    @Optional() private readonly repeated?: RepeatedRequests,
  ) {}

  /**
   * Refuses a request when that is already certain: before its body is read, and without a query. The limits of the tier do
   * not refuse a request that repeats another one.
   *
   * @throws {ServiceError}
   */
  async precheck(
    execution: ExecutionContext,
    { accountId, limits, tokenUse, opensStream }: LimitedRequest,
  ): Promise<void> {
    const http = execution.switchToHttp();
    const [request, response] = [http.getRequest<Request>(), http.getResponse<Response>()];
    const needed = tokenUse === undefined ? limits.filter(({ unit }) => unit !== 'tokens') : limits;
    const certain = limits.length > 0 ? this.store.precheck?.(accountId, needed) : undefined;
    if (certain !== undefined) {
      setLimitHeaders(response, LIMIT_HEADER_PREFIX, certain.state);
      if ((await this.repeated?.isRepeat(execution)) !== true) throw refused(request, certain, undefined);
    }
    const overload = opensStream ? this.slots.refusal() : undefined;
    if (overload === undefined) return;
    await this.showLimits(request, response);
    throw overload;
  }

  /** Sets the limit headers without counting the request. */
  async showLimits({ context }: Request, response: Response): Promise<void> {
    const { limited } = context;
    if (limited === undefined || limited.limits.length === 0) return;
    setLimitHeaders(response, LIMIT_HEADER_PREFIX, await this.store.peek(limited.accountId, limited.limits));
  }

  /**
   * Counts a request and takes its slot. Returns nothing when no limit applies.
   *
   * @throws {ServiceError} when a limit refuses the request. Nothing is counted then.
   */
  async admit(request: Request, response: Response, limited: LimitedRequest): Promise<RequestLease | undefined> {
    const body = request.body as object | undefined;
    const ofPlugins = this.ofPlugins.isEmpty ? [] : await this.ofPlugins.of(callOf(request, body));
    const release = limited.opensStream ? this.slots.take(response) : undefined;
    if (limited.limits.length + ofPlugins.length === 0) return undefined;
    try {
      const tokens = await demandOf(limited, ofPlugins, body);
      return await this.count(request, response, groupsOf(limited, ofPlugins), tokens, ofPlugins);
    } catch (error) {
      release?.();
      throw error;
    }
  }

  /**
   * Counts a request that another guard refuses. It uses no tokens and no slot.
   *
   * @throws {ServiceError} when a limit refuses the request, too.
   */
  async countRefused(request: Request, response: Response): Promise<void> {
    const { limited } = request.context;
    if (limited?.counts !== true || limited.limits.length === 0) return;
    await this.count(request, response, [limited], NO_TOKENS, []);
  }

  private async count(
    request: Request,
    response: Response,
    groups: readonly LimitGroup[],
    tokens: TokenDemand,
    ofPlugins: readonly PluginLimit[],
  ): Promise<RequestLease> {
    const admission = await admitToAll(this.store, groups, tokens);
    setLimitHeaders(response, LIMIT_HEADER_PREFIX, admission.state, ofPlugins);
    if (!admission.admitted) throw refused(request, admission, tokens, ofPlugins);
    const holdsSlot = groups.some(({ limits }) => limits.some(({ unit }) => unit === 'streams'));
    const giveBack = async (): Promise<void> => {
      const states = await admission.giveBack();
      if (!response.headersSent) setLimitHeaders(response, LIMIT_HEADER_PREFIX, states, ofPlugins);
    };
    return new RequestLease(admission.lease, response, this.slots, holdsSlot, giveBack);
  }
}

/** Returns the error for a refusal, and records the limit for the observers of the request. */
function refused(
  { context }: Request,
  refusal: Refusal,
  needed: TokenDemand | undefined,
  ofPlugins?: readonly PluginLimit[],
): ServiceError {
  context.refusedBy = refusal.refusedBy;
  return refusalError(refusal, needed, ofPlugins);
}

/** Returns the limits by the place where they are counted: first those of the account, then those of each scope. */
function groupsOf(ofAccount: LimitGroup, ofPlugins: readonly PluginLimit[]): readonly LimitGroup[] {
  if (ofPlugins.length === 0) return [ofAccount];
  const { accountId, limits } = ofAccount;
  const scopes = new Set(ofPlugins.map(({ scope }) => scope));
  const of = (wanted: string | undefined): readonly PluginLimit[] => ofPlugins.filter(({ scope }) => scope === wanted);
  const own = { accountId, limits: [...limits, ...of(undefined)] };
  scopes.delete(undefined);
  const shared = [...scopes].map((scope) => ({ accountId: `scope:${scope ?? ''}`, limits: of(scope) }));
  return [own, ...shared].filter((group) => group.limits.length > 0);
}

/** Returns a promise only for a long prompt. */
function demandOf(
  { limits, tokenUse, tier }: LimitedRequest,
  ofPlugins: readonly PluginLimit[],
  body: object | undefined,
): TokenDemand | Promise<TokenDemand> {
  const all = ofPlugins.length === 0 ? limits : [...limits, ...ofPlugins];
  const ofTokens = all.filter(({ unit }) => unit === 'tokens');
  if (tokenUse === undefined || body === undefined || ofTokens.length === 0) return NO_TOKENS;
  return tokenUse.tokensOf(body, tier, Math.min(...ofTokens.map(({ max }) => max)));
}

function callOf(request: Request, body: object | undefined): LimitedCall {
  const { model } = (body ?? {}) as { readonly model?: unknown };
  const { path: route } = request.route as { readonly path: string };
  const surface = request.context.surface?.name;
  return {
    principal: principalOf(request),
    model: typeof model === 'string' ? model : undefined,
    body,
    route,
    surface,
  };
}
