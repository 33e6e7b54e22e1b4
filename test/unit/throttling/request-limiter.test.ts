import { EventEmitter } from 'node:events';
import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { DrainState } from '../../../src/platform/common/drain-state.js';
import type { EventLoop } from '../../../src/platform/common/event-loop/event-loop.js';
import { ShedLoad } from '../../../src/platform/common/shed-load.js';
import type { Config, TierConfig } from '../../../src/platform/config/config.js';
import { AdmissionGuard } from '../../../src/throttling/admission.guard.js';
import type { LimitStore } from '../../../src/throttling/limit-store.js';
import { LimitedByTier, OpensStream } from '../../../src/throttling/limited-by-tier.decorator.js';
import { PluginLimits } from '../../../src/throttling/plugin-limits.js';
import { StreamSlots } from '../../../src/throttling/process-load/stream-slots.js';
import { RequestLimiter, type RepeatedRequests } from '../../../src/throttling/request-limiter.js';
import { TierThrottlerGuard } from '../../../src/throttling/tier-throttler.guard.js';
import { extensionsOf } from '../../support/extensions.js';

const TIER: TierConfig = {
  ...{ name: 'free', maxTokens: undefined, plugins: {} },
  ...{ requestsPerMinute: 5, concurrentStreams: 2 },
};
const BOUNDLESS: TierConfig = { ...TIER, requestsPerMinute: undefined, concurrentStreams: undefined };
const STATE = { requestsPerMinute: { limit: 5, remaining: 4, resetSeconds: 30 } };
const HEADERS = { 'X-RateLimit-Limit': 5, 'X-RateLimit-Remaining': 4, 'X-RateLimit-Reset': 30 };
const OVERLOADED = { code: 'unavailable' };

class Text {
  text = '';
}

@LimitedByTier({ body: Text, tokensOf: () => ({ atLeast: 10, atMost: 70 }) })
class Routes {
  @OpensStream()
  stream(): void {
    // Only its metadata matters.
  }
}

const newResponse = (headers: Record<string, unknown> = {}): Response =>
  Object.assign(new EventEmitter(), {
    ...{ closed: false, req: { context: {} } },
    setHeader: (name: string, value: unknown) => (headers[name] = value),
  }) as unknown as Response;

describe('a request for a stream, in a process with one slot', () => {
  const lease = { tokens: 70, release: () => undefined, settle: () => undefined };
  const admit = vi.fn<LimitStore['admit']>();
  const peek = vi.fn<LimitStore['peek']>();
  /** What happens while the body arrives. */
  let read: () => void;
  let headers: Record<string, unknown>;
  let slots: StreamSlots;

  beforeEach(() => {
    admit.mockReset().mockResolvedValue({ admitted: true, lease, state: STATE });
    peek.mockReset().mockResolvedValue(STATE);
    read = vi.fn();
    headers = {};
    slots = new StreamSlots({ maxStreams: 1 } as Config, { isOverloaded: false } as EventLoop, new ShedLoad());
  });

  /** Passes the guards in their order, with a store that has no precheck. */
  async function admits(tier = TIER): Promise<boolean> {
    const repeated: RepeatedRequests = { isRepeat: () => Promise.resolve(false), claim: () => false };
    const limiter = new RequestLimiter({ admit, peek }, slots, new PluginLimits(extensionsOf()), repeated);
    const precheck = new TierThrottlerGuard(new Reflector(), limiter);
    await precheck.onModuleInit();
    const principal = { accountId: 'ada', tier, credential: { kind: 'session', sessionId: 's1' } };
    const request = { context: { requestId: 'r1', principal }, body: new Text() } as unknown as Request;
    const response = newResponse(headers);
    const execution = {
      switchToHttp: () => ({ getRequest: () => request, getResponse: () => response }),
      getHandler: () => Routes.prototype.stream,
      getClass: () => Routes,
    } as unknown as ExecutionContext;
    await precheck.canActivate(execution);
    read();
    return new AdmissionGuard(limiter, new DrainState(), repeated).canActivate(execution);
  }

  it.each([
    ['and shows the limits', TIER, HEADERS],
    ['also of a tier without limits', BOUNDLESS, {}],
  ])('is refused where the slot is taken, before its body is read, %s', async (_, tier, shown) => {
    slots.take(newResponse());
    await expect(admits(tier)).rejects.toMatchObject(OVERLOADED);
    expect(read).not.toHaveBeenCalled();
    expect([headers, admit.mock.calls]).toEqual([shown, []]);
  });

  it('is not counted where the slot was taken while its body arrived', async () => {
    read = () => void slots.take(newResponse());
    await expect(admits()).rejects.toMatchObject(OVERLOADED);
    expect(admit).not.toHaveBeenCalled();
  });

  it('releases the slot where the store fails', async () => {
    const failure = new Error('away');
    admit.mockRejectedValueOnce(failure);
    await expect(admits()).rejects.toBe(failure);
    expect(slots.refusal()).toBeUndefined();
    expect(await admits()).toBe(true);
    expect(slots.refusal()).toBeDefined();
  });
});
