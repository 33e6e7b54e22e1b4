import { EventEmitter } from 'node:events';
import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { beforeEach, describe, expect, it } from 'vitest';
import type { EventLoop } from '../../../src/common/event-loop/event-loop.js';
import { ShedLoad } from '../../../src/common/shed-load.js';
import type { Config, TierConfig } from '../../../src/config/config.js';
import type { BodyResult, RequestBodies } from '../../../src/http/body/request-bodies.js';
import type { RequestContext } from '../../../src/http/request/request-context.js';
import type { AdmissionRequest, LimitStore, Refusal, TierLimits } from '../../../src/throttling/limit-store.js';
import { LimitedByTier, ShowsLimits } from '../../../src/throttling/limited-by-tier.decorator.js';
import { OpensStream } from '../../../src/throttling/process-load/opens-stream.decorator.js';
import { StreamPlaces } from '../../../src/throttling/process-load/stream-places.js';
import { TierThrottlerGuard } from '../../../src/throttling/tier-throttler.guard.js';

const LIMITS = { requestsPerMinute: 5, concurrentStreams: 2, tokensPerDay: 1_000 };
const TIER: TierConfig = { name: 'free', maxTokens: undefined, ...LIMITS };
const BOUNDLESS: TierConfig = {
  name: 'boundless',
  maxTokens: undefined,
  requestsPerMinute: undefined,
  concurrentStreams: undefined,
};
const STATE = {
  requests: { limit: 5, remaining: 4, resetSeconds: 30 },
  streams: { limit: 2, remaining: 1 },
  tokens: { limit: 1_000, remaining: 930, resetSeconds: 43_200 },
};
const HEADERS = {
  'X-RateLimit-Limit': 5,
  'X-RateLimit-Remaining': 4,
  'X-RateLimit-Reset': 30,
  'X-RateLimit-Limit-Tokens': 1_000,
  'X-RateLimit-Remaining-Tokens': 930,
  'X-RateLimit-Reset-Tokens': 43_200,
};
const DEMAND = { atLeast: 10, atMost: 70 };
const NO_TOKENS = { atLeast: 0, atMost: 0 };
const REFUSED: Refusal = { admitted: false, refusedBy: 'requests', retryAfterSeconds: 30, state: STATE };
const TOO_MANY = { code: 'rate_limit_exceeded', retryAfterSeconds: 30 };
const OVERLOADED = { code: 'unavailable' };
const INVALID = { error: new Error('invalid') };

/** What the guard has done, in order. */
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

class OnePlace extends StreamPlaces {
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
  }) as unknown as Response;

describe('the guard of the limits', () => {
  let places: StreamPlaces;
  let store: LimitStore;
  let admission: () => ReturnType<LimitStore['admit']>;
  let admissions: AdmissionRequest[];
  let foreseen: Refusal | undefined;
  let foreseenFor: TierLimits[];
  let read: () => BodyResult;
  let readAs: unknown[];
  let headers: Record<string, unknown>;
  let context: RequestContext;
  let body: object | undefined;
  let response: Response;
  let guard: TierThrottlerGuard;

  beforeEach(async () => {
    did = [];
    places = new OnePlace();
    admissions = [];
    const lease = { tokens: 70, release: () => undefined, settle: () => undefined };
    admission = () => Promise.resolve({ admitted: true, lease, state: STATE });
    foreseen = undefined;
    foreseenFor = [];
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
      foresee: (_, limits) => {
        did.push('foresee');
        foreseenFor.push(limits);
        return foreseen;
      },
    };
    read = () => ({});
    readAs = [];
    const bodies = {
      read: (_: ExecutionContext, type?: unknown) => {
        did.push('read');
        readAs.push(type);
        return Promise.resolve(read());
      },
    } as unknown as RequestBodies;
    headers = {};
    context = { requestId: 'r1' };
    body = new Text();
    response = newResponse(headers);
    guard = new TierThrottlerGuard(new Reflector(), store, bodies, places);
    await guard.onModuleInit();
  });

  function admits(handler: keyof Routes, tier = TIER): Promise<boolean> {
    context.principal = { accountId: 'ada', tier, credential: { kind: 'session', sessionId: 's1' } };
    return asked(Routes, Routes.prototype[handler]);
  }

  function asked(routes: object, handler: () => void): Promise<boolean> {
    const request = { context, body } as unknown as Request;
    return guard.canActivate({
      switchToHttp: () => ({ getRequest: () => request, getResponse: () => response }),
      getHandler: () => handler,
      getClass: () => routes,
    } as unknown as ExecutionContext);
  }

  it('has nothing to do on a route without limits, where nobody needs to be known', async () => {
    expect(await asked(OpenRoutes, OpenRoutes.prototype.home)).toBe(true);
    expect(did).toEqual([]);
  });

  it('takes a place for the stream of a request, then a lease', async () => {
    expect(await admits('stream')).toBe(true);
    expect(did).toEqual(['foresee', 'read', 'take', 'tokensOf', 'admit']);
    expect(readAs).toEqual([Text]);
    expect(foreseenFor).toEqual([LIMITS]);
    expect(admissions).toEqual([{ accountId: 'ada', limits: LIMITS, tokens: DEMAND }]);
    expect(context.lease?.tokens).toBe(70);
    expect([headers, places.heldInTiers, places.isOverloaded]).toEqual([HEADERS, 1, true]);

    response.emit('close');
    expect([places.heldInTiers, places.isOverloaded]).toEqual([0, false]);
  });

  it('asks a store that foresees nothing', async () => {
    delete store.foresee;
    expect(await admits('stream')).toBe(true);
    expect(did).toContain('admit');
  });

  it('takes no place for a request that opens no stream, and that the process can answer although it is full', async () => {
    places.take(newResponse());
    did = [];
    expect(await admits('answer')).toBe(true);
    expect(did).toEqual(['foresee', 'read', 'tokensOf', 'admit']);
  });

  it('counts no stream of a tier that does not limit them', async () => {
    await admits('stream', { ...TIER, concurrentStreams: undefined });
    expect(context.lease).toBeDefined();
    expect(places.heldInTiers).toBe(0);
  });

  it.each(['stream', 'answer'] as const)('gives the place back where the tier refuses: %s', async (handler) => {
    admission = () => Promise.resolve(REFUSED);
    await expect(admits(handler)).rejects.toMatchObject(TOO_MANY);
    expect([context.refusedBy, context.lease, headers]).toEqual(['requests', undefined, HEADERS]);
    expect([places.isOverloaded, places.heldInTiers]).toEqual([false, 0]);
  });

  it('gives the place back where the store fails', async () => {
    const failure = new Error('away');
    admission = () => Promise.reject(failure);
    await expect(admits('stream')).rejects.toBe(failure);
    expect(did).toContain('take');
    expect(places.isOverloaded).toBe(false);
  });

  it('refuses what is certain to be refused before it reads the body', async () => {
    foreseen = REFUSED;
    await expect(admits('stream')).rejects.toMatchObject(TOO_MANY);
    expect([did, headers, context.refusedBy]).toEqual([['foresee'], HEADERS, 'requests']);
  });

  it('does not foresee a want of tokens for a route that uses none', async () => {
    expect(await admits('withoutTokens')).toBe(true);
    expect(foreseenFor).toEqual([{ ...LIMITS, tokensPerDay: undefined }]);
    expect(admissions).toEqual([{ accountId: 'ada', limits: LIMITS, tokens: NO_TOKENS }]);
  });

  it('shows the limits where the process is full, but reads, takes and counts nothing', async () => {
    places.take(newResponse());
    did = [];
    await expect(admits('stream')).rejects.toMatchObject(OVERLOADED);
    expect([did, headers, context.refusedBy]).toEqual([['foresee', 'peek ada'], HEADERS, undefined]);
  });

  it('counts nothing where the last place was taken while the body arrived', async () => {
    read = () => {
      places.take(newResponse());
      return {};
    };
    await expect(admits('stream')).rejects.toMatchObject(OVERLOADED);
    expect(admissions).toEqual([]);
  });

  it.each([
    ['with an invalid body', () => (read = () => INVALID), TIER],
    ['without a body', () => (body = undefined), TIER],
    ['of a tier without a limit of tokens', () => undefined, { ...TIER, tokensPerDay: undefined }],
  ])('reserves no tokens for a request %s', async (_, prepare, tier) => {
    prepare();
    expect(await admits('stream', tier)).toBe(true);
    expect(did).not.toContain('tokensOf');
    expect(admissions).toMatchObject([{ tokens: NO_TOKENS }]);
  });

  it.each([
    ['a request that repeats another', 'stream', true],
    ['a route that shows the limits', 'shown', undefined],
  ] as const)('only looks at the limits for %s', async (_, handler, isRepeated) => {
    if (isRepeated !== undefined) context.isRepeated = isRepeated;
    expect(await admits(handler)).toBe(true);
    expect([did, headers, context.lease]).toEqual([['peek ada'], HEADERS, undefined]);
  });

  it('counts a request with a key that is new', async () => {
    context.isRepeated = false;
    expect(await admits('stream')).toBe(true);
    expect(did).toEqual(['foresee', 'read', 'take', 'tokensOf', 'admit']);
  });

  describe('of a tier without limits', () => {
    it.each([undefined, false])('takes a place once the body is valid, where isRepeated is %s', async (isRepeated) => {
      if (isRepeated !== undefined) context.isRepeated = isRepeated;
      expect(await admits('stream', BOUNDLESS)).toBe(true);
      expect([did, headers, context.lease]).toEqual([['read', 'take'], {}, undefined]);
      expect([places.isOverloaded, places.heldInTiers]).toEqual([true, 0]);
    });

    it('takes no place for an invalid body, which another guard refuses', async () => {
      read = () => INVALID;
      expect(await admits('stream', BOUNDLESS)).toBe(true);
      expect(did).toEqual(['read']);
    });

    it('refuses where the process is full, before it reads the body', async () => {
      places.take(newResponse());
      did = [];
      await expect(admits('stream', BOUNDLESS)).rejects.toMatchObject(OVERLOADED);
      expect(did).toEqual([]);
    });

    it.each([
      ['a request that repeats another', 'stream', true],
      ['a route that opens no stream', 'answer', false],
    ] as const)('takes no place for %s', async (_, handler, isRepeated) => {
      context.isRepeated = isRepeated;
      expect(await admits(handler, BOUNDLESS)).toBe(true);
      expect(did).toEqual([]);
    });
  });
});
