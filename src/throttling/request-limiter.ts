import { Injectable, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { principalOf, type Principal } from '../auth/principal/principal.js';
import type { ServiceError } from '../platform/common/service-error.js';
import type { TierConfig } from '../platform/config/config.js';
import { limitsOfCaller, type LimitedCall } from './account-limits.js';
import { refusalError, setLimitHeaders } from './limit-response.js';
import { admitToAll, type LimitGroup } from './joint-admission.js';
import { LimitStore, NO_TOKENS, refusal, type Limit, type LimitStates, type TokenDemand } from './limit-store.js';
import type { TokenUse } from './limited-by-tier.decorator.js';
import { PluginLimits, type PluginLimit } from './plugin-limits.js';
import { StreamSlots } from './process-load/stream-slots.js';
import { RequestLease, type OutlivingLease } from './request-lease.js';

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

/** What the limits count: a request to a route that is `@LimitedByTier()`, or a completion without a request. */
interface LimitedUse {
  readonly accountId: string;
  readonly tier: TierConfig;
  readonly limits: readonly Limit[];
  /** How the request uses tokens. `undefined`: it uses none. */
  readonly tokenUse: Pick<TokenUse, 'tokensOf'> | undefined;
}

/** A request to a route that is `@LimitedByTier()`. */
export interface LimitedRequest extends LimitedUse {
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
    repeated: RepeatedRequests | undefined,
  ): Promise<void> {
    const http = execution.switchToHttp();
    const [request, response] = [http.getRequest<Request>(), http.getResponse<Response>()];
    const needed = tokenUse === undefined ? limits.filter(({ unit }) => unit !== 'tokens') : limits;
    const certain = limits.length > 0 ? this.store.precheck?.(accountId, needed) : undefined;
    if (certain !== undefined) {
      setLimitHeaders(response, LIMIT_HEADER_PREFIX, certain.state);
      if ((await repeated?.isRepeat(execution)) !== true) {
        request.context.refusedBy = certain.refusedBy;
        throw refusalError(certain, undefined);
      }
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
  async admit(call: LimitedCall, limited: LimitedRequest, response: Response): Promise<RequestLease | undefined> {
    const release = limited.opensStream ? this.slots.take(response) : undefined;
    try {
      return await this.countUse(call, limited, response);
    } catch (error) {
      release?.();
      throw error;
    }
  }

  /**
   * As {@link admit}, for a completion without a request, such as one of a job. The lease ends with its `release`.
   *
   * @throws {ServiceError} when a limit refuses the completion. Nothing is counted then.
   */
  async admitCompletion(
    principal: Principal,
    body: { readonly model: string },
    tokenUse: LimitedUse['tokenUse'],
  ): Promise<OutlivingLease | undefined> {
    const { accountId, tier } = principal;
    const call = { principal, model: body.model, body, route: undefined, surface: undefined };
    const lease = await this.countUse(call, { accountId, tier, limits: limitsOfCaller(principal), tokenUse });
    return lease?.outlive();
  }

  /**
   * Counts a request that another guard refuses. It uses no tokens and no slot.
   *
   * @throws {ServiceError} when a limit refuses the request, too.
   */
  async countRefused(request: Request, response: Response): Promise<void> {
    const { limited } = request.context;
    if (limited?.counts !== true || limited.limits.length === 0) return;
    await this.count([limited], NO_TOKENS, [], response);
  }

  private async countUse(call: LimitedCall, used: LimitedUse, response?: Response): Promise<RequestLease | undefined> {
    const ofPlugins = this.ofPlugins.isEmpty ? [] : await this.ofPlugins.of(call);
    if (used.limits.length + ofPlugins.length === 0) return undefined;
    const tokens = await demandOf(used, ofPlugins, call.body);
    return this.count(groupsOf(used, ofPlugins), tokens, ofPlugins, response);
  }

  /** @param response shows the limits, and ends the lease. */
  private async count(
    groups: readonly LimitGroup[],
    tokens: TokenDemand,
    ofPlugins: readonly PluginLimit[],
    response?: Response,
  ): Promise<RequestLease> {
    const admission = await admitToAll(this.store, groups, tokens);
    const show = (states: LimitStates): void => {
      if (response?.headersSent === false) setLimitHeaders(response, LIMIT_HEADER_PREFIX, states, ofPlugins);
    };
    show(admission.state);
    if (!admission.admitted) {
      if (response !== undefined) response.req.context.refusedBy = admission.refusedBy;
      throw refusalError(admission, tokens, ofPlugins);
    }
    const giveBack = async (): Promise<void> => {
      show(await admission.giveBack());
    };
    const { lease, state } = admission;
    const limits = groups.flatMap((group) => group.limits);
    const holdsSlot = limits.some(({ unit }) => unit === 'streams');
    const shortage = (needed: number): ServiceError | undefined => {
      if (lease.tokens === undefined || lease.tokens >= tokens.atMost) return undefined;
      // The request has all that was left of this limit.
      const scarce = limits.find(({ unit, name }) => unit === 'tokens' && state[name]?.remaining === 0);
      return scarce && refusalError(refusal(scarce.name, state), { atLeast: needed, atMost: needed }, ofPlugins);
    };
    return new RequestLease(lease, response, this.slots, holdsSlot, { giveBack, shortage });
  }
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
  { limits, tokenUse, tier }: LimitedUse,
  ofPlugins: readonly PluginLimit[],
  body: object | undefined,
): TokenDemand | Promise<TokenDemand> {
  const all = ofPlugins.length === 0 ? limits : [...limits, ...ofPlugins];
  const ofTokens = all.filter(({ unit }) => unit === 'tokens');
  if (tokenUse === undefined || body === undefined || ofTokens.length === 0) return NO_TOKENS;
  return tokenUse.tokensOf(body, tier, Math.min(...ofTokens.map(({ max }) => max)));
}

/** Returns what plugins learn of a request whose body was read. */
export function callOf(request: Request): LimitedCall {
  const body = request.body as object | undefined;
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
