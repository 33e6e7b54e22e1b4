import { EventEmitter } from 'node:events';
import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { beforeEach, describe, expect, it } from 'vitest';
import type { EventLoop } from '../../../src/platform/common/event-loop/event-loop.js';
import { ShedLoad } from '../../../src/platform/common/shed-load.js';
import type { Config, TierConfig } from '../../../src/platform/config/config.js';
import type { RequestContext } from '../../../src/platform/http/request/request-context.js';
import { limitsOf } from '../../../src/throttling/account-limits.js';
import type { AdmissionRequest, Limit, LimitStore, Refusal } from '../../../src/throttling/limit-store.js';
import { AdmissionGuard } from '../../../src/throttling/admission.guard.js';
import { LimitedByTier, OpensStream, ShowsLimits } from '../../../src/throttling/limited-by-tier.decorator.js';
import { DrainState } from '../../../src/platform/common/drain-state.js';
import { StreamSlots } from '../../../src/throttling/process-load/stream-slots.js';
import { PluginLimits } from '../../../src/throttling/plugin-limits.js';
import { RequestLimiter, type RepeatedRequests } from '../../../src/throttling/request-limiter.js';
import { extensionsOf } from '../../support/extensions.js';
import { TierThrottlerGuard } from '../../../src/throttling/tier-throttler.guard.js';

const LIMITS = { requestsPerMinute: 5, concurrentStreams: 2, tokensPerDay: 1_000 };
const TIER: TierConfig = { name: 'free', maxTokens: undefined, plugins: {}, ...LIMITS };
const BOUNDLESS: TierConfig = {
  name: 'boundless',
  plugins: {},
  maxTokens: undefined,
  requestsPerMinute: undefined,
  concurrentStreams: undefined,
};
const STATE = {
  requestsPerMinute: { limit: 5, remaining: 4, resetSeconds: 30 },
  concurrentStreams: { limit: 2, remaining: 1 },
  tokensPerDay: { limit: 1_000, remaining: 930, resetSeconds: 43_200 },
};
const HEADERS = {
  'X-RateLimit-Limit': 5,
  'X-RateLimit-Remaining': 4,
  'X-RateLimit-Reset': 30,
  'X-RateLimit-Limit-Tokens': 1_000,
  'X-RateLimit-Remaining-Tokens': 930,
  'X-RateLimit-Reset-Tokens': 43_200,
};
const noPluginLimits = new PluginLimits(extensionsOf());
const DEMAND = { atLeast: 10, atMost: 70 };
const NO_TOKENS = { atLeast: 0, atMost: 0 };
const REFUSED: Refusal = { admitted: false, refusedBy: 'requestsPerMinute', retryAfterSeconds: 30, state: STATE };
const TOO_MANY = { code: 'rate_limit_exceeded', retryAfterSeconds: 30 };
const OVERLOADED = { code: 'unavailable' };
const INVALID = new Error('invalid');

/** What the guards have done, in order. */
let did: string[];

class Text {
  text = '';
}

const tokensOf = () => {
  did.push('tokensOf');
  return DEMAND;
};

@LimitedByTier({ body: Text, tokensOf })
class Routes {
  @OpensStream()
  stream(): void {
    // Only its metadata matters.
  }

  answer(): void {
    // Only its metadata matters.
  }

  @LimitedByTier()
  withoutTokens(): void {
    // Only its metadata matters.
  }

  @OpensStream()
  @ShowsLimits()
  shown(): void {
    // Only its metadata matters.
  }
}

class OpenRoutes {
  home(): void {
    // Only its metadata matters.
  }
}

class OneSlot extends StreamSlots {
  constructor() {
    super({ maxStreams: 1 } as Config, { isOverloaded: false } as EventLoop, new ShedLoad());
  }

  override take(response: Response): () => void {
    did.push('take');
    return super.take(response);
  }
}

const newResponse = (headers: Record<string, unknown> = {}): Response =>
  Object.assign(new EventEmitter(), {
    closed: false,
    setHeader: (name: string, value: unknown) => (headers[name] = value),
    req: { context: {} },
  }) as unknown as Response;

describe('a request to a route with limits', () => {
  let slots: StreamSlots;
  let store: LimitStore;
  let admission: () => ReturnType<LimitStore['admit']>;
  let admissions: AdmissionRequest[];
  let certain: Refusal | undefined;
  let precheckedFor: (readonly Limit[])[];
  let read: () => void;
  let isRepeat: boolean;
  /** Whether the request repeats another one, when its body is known. */
  let repeats: boolean;
  let headers: Record<string, unknown>;
  let context: RequestContext;
  let body: object | undefined;
  let response: Response;
  let limiter: RequestLimiter;
  let precheck: TierThrottlerGuard;
  let admissionGuard: AdmissionGuard;

  beforeEach(async () => {
    did = [];
    slots = new OneSlot();
    admissions = [];
    const lease = { tokens: 70, release: () => undefined, settle: () => undefined };
    admission = () => Promise.resolve({ admitted: true, lease, state: STATE });
    certain = undefined;
    precheckedFor = [];
    store = {
      admit: (request) => {
        did.push('admit');
        admissions.push(request);
        return admission();
      },
      peek: (accountId) => {
        did.push(`peek ${accountId}`);
        return Promise.resolve(STATE);
      },
      precheck: (_, limits) => {
        did.push('precheck');
        precheckedFor.push(limits);
        return certain;
      },
    };
    read = () => undefined;
    isRepeat = repeats = false;
    headers = {};
    context = { requestId: 'r1' };
    body = new Text();
    response = newResponse(headers);
    const repeated: RepeatedRequests = { isRepeat: () => Promise.resolve(isRepeat), claim: () => repeats };
    limiter = new RequestLimiter(store, slots, noPluginLimits, repeated);
    precheck = new TierThrottlerGuard(new Reflector(), limiter);
    admissionGuard = new AdmissionGuard(limiter, new DrainState(), repeated);
    await precheck.onModuleInit();
  });

  const isFull = (): boolean => slots.refusal() !== undefined;

  function admits(handler: keyof Routes, tier = TIER): Promise<boolean> {
    context.principal = { accountId: 'ada', tier, credential: { kind: 'session', sessionId: 's1' } };
    return isAdmitted(Routes, Routes.prototype[handler]);
  }

  /** Passes the guards in their order. The guard of the body is played. */
  async function isAdmitted(routes: object, handler: () => void): Promise<boolean> {
    const request = { context, body } as unknown as Request;
    const execution = {
      switchToHttp: () => ({ getRequest: () => request, getResponse: () => response }),
      getHandler: () => handler,
      getClass: () => routes,
    } as unknown as ExecutionContext;
    await precheck.canActivate(execution);
    did.push('read');
    try {
      read();
    } catch (error) {
      await limiter.countRefused(request, response);
      throw error;
    }
    return admissionGuard.canActivate(execution);
  }

  it('has no effect on a route without limits, where no account is needed', async () => {
    expect(await isAdmitted(OpenRoutes, OpenRoutes.prototype.home)).toBe(true);
    expect(did).toEqual(['read']);
  });

  it('acquires a slot for the stream of a request, then a lease', async () => {
    expect(await admits('stream')).toBe(true);
    expect(did).toEqual(['precheck', 'read', 'take', 'tokensOf', 'admit']);
    expect(precheckedFor).toEqual([limitsOf(LIMITS)]);
    expect(admissions).toEqual([{ accountId: 'ada', limits: limitsOf(LIMITS), tokens: DEMAND }]);
    expect(context.counted?.lease?.tokens).toBe(70);
    expect([headers, slots.takenInTiers, isFull()]).toEqual([HEADERS, 1, true]);

    response.emit('close');
    expect([slots.takenInTiers, isFull()]).toEqual([0, false]);
  });

  it('admits by a store without a precheck', async () => {
    delete store.precheck;
    expect(await admits('stream')).toBe(true);
    expect(did).toContain('admit');
  });

  it('acquires no slot for a request that opens no stream, and that the process can answer although it is full', async () => {
    slots.take(newResponse());
    did = [];
    expect(await admits('answer')).toBe(true);
    expect(did).toEqual(['precheck', 'read', 'tokensOf', 'admit']);
  });

  it('counts no stream of a tier that does not limit them', async () => {
    await admits('stream', { ...TIER, concurrentStreams: undefined });
    expect(context.counted?.lease).toBeDefined();
    expect(slots.takenInTiers).toBe(0);
  });

  it.each(['stream', 'answer'] as const)('releases the slot where the tier refuses: %s', async (handler) => {
    admission = () => Promise.resolve(REFUSED);
    await expect(admits(handler)).rejects.toMatchObject(TOO_MANY);
    expect([context.refusedBy, context.counted?.lease, headers]).toEqual(['requestsPerMinute', undefined, HEADERS]);
    expect([isFull(), slots.takenInTiers]).toEqual([false, 0]);
  });

  it('releases the slot where the store fails', async () => {
    const failure = new Error('away');
    admission = () => Promise.reject(failure);
    await expect(admits('stream')).rejects.toBe(failure);
    expect(did).toContain('take');
    expect(isFull()).toBe(false);
  });

  it('refuses what is certain to be refused before it reads the body', async () => {
    certain = REFUSED;
    await expect(admits('stream')).rejects.toMatchObject(TOO_MANY);
    expect([did, headers, context.refusedBy]).toEqual([['precheck'], HEADERS, 'requestsPerMinute']);
  });

  it('does not refuse for a want of tokens for a route that uses none', async () => {
    expect(await admits('withoutTokens')).toBe(true);
    expect(precheckedFor).toEqual([limitsOf({ ...LIMITS, tokensPerDay: undefined })]);
    expect(admissions).toEqual([{ accountId: 'ada', limits: limitsOf(LIMITS), tokens: NO_TOKENS }]);
  });

  it('shows the limits where the process is full, but reads, acquires and counts nothing', async () => {
    slots.take(newResponse());
    did = [];
    await expect(admits('stream')).rejects.toMatchObject(OVERLOADED);
    expect([did, headers, context.refusedBy]).toEqual([['precheck', 'peek ada'], HEADERS, undefined]);
  });

  it('counts nothing where the last slot was acquired while the body arrived', async () => {
    read = () => {
      slots.take(newResponse());
    };
    await expect(admits('stream')).rejects.toMatchObject(OVERLOADED);
    expect(admissions).toEqual([]);
  });

  it.each([
    ['without a body', () => (body = undefined), TIER],
    ['of a tier without a limit of tokens', () => undefined, { ...TIER, tokensPerDay: undefined }],
  ])('reserves no tokens for a request %s', async (_, prepare, tier) => {
    prepare();
    expect(await admits('stream', tier)).toBe(true);
    expect(did).not.toContain('tokensOf');
    expect(admissions).toMatchObject([{ tokens: NO_TOKENS }]);
  });

  it('is counted, but uses no tokens and no slot, when its body is invalid', async () => {
    read = () => {
      throw INVALID;
    };
    await expect(admits('stream')).rejects.toBe(INVALID);
    expect(did).toEqual(['precheck', 'read', 'admit']);
    expect(admissions).toMatchObject([{ tokens: NO_TOKENS }]);
    expect([headers, isFull()]).toEqual([HEADERS, false]);
  });

  it('is refused by the limits, not for its invalid body, when both refuse it', async () => {
    admission = () => Promise.resolve(REFUSED);
    read = () => {
      throw INVALID;
    };
    await expect(admits('stream')).rejects.toMatchObject(TOO_MANY);
  });

  it('is not counted when it repeats another one', async () => {
    repeats = true;
    expect(await admits('stream')).toBe(true);
    expect([did, headers, context.counted?.lease]).toEqual([['precheck', 'read', 'peek ada'], HEADERS, undefined]);
  });

  it('passes limits that are used up when it repeats another one', async () => {
    certain = REFUSED;
    isRepeat = true;
    repeats = true;
    expect(await admits('stream')).toBe(true);
    expect(context.refusedBy).toBeUndefined();
  });

  it('only sees the limits of a route that shows them', async () => {
    expect(await admits('shown')).toBe(true);
    expect([did, headers, context.counted?.lease]).toEqual([['read', 'peek ada'], HEADERS, undefined]);
  });

  describe('of a tier without limits', () => {
    it('acquires a slot once the body is valid', async () => {
      expect(await admits('stream', BOUNDLESS)).toBe(true);
      expect([did, headers, context.counted?.lease]).toEqual([['read', 'take'], {}, undefined]);
      expect([isFull(), slots.takenInTiers]).toEqual([true, 0]);
    });

    it('acquires no slot for an invalid body', async () => {
      read = () => {
        throw INVALID;
      };
      await expect(admits('stream', BOUNDLESS)).rejects.toBe(INVALID);
      expect(did).toEqual(['read']);
    });

    it('refuses where the process is full, before it reads the body', async () => {
      slots.take(newResponse());
      did = [];
      await expect(admits('stream', BOUNDLESS)).rejects.toMatchObject(OVERLOADED);
      expect(did).toEqual([]);
    });

    it.each([
      ['a request that repeats another', 'stream', true],
      ['a route that opens no stream', 'answer', false],
    ] as const)('acquires no slot for %s', async (_, handler, isRepeated) => {
      repeats = isRepeated;
      expect(await admits(handler, BOUNDLESS)).toBe(true);
      expect(did).toEqual(['read']);
    });
  });
});
