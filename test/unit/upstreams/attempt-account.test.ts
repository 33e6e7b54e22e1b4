import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi, type Mock } from 'vitest';
import { ServiceError } from '../../../src/common/service-error.js';
import type { RouteConfig } from '../../../src/config/config.js';
import { AttemptAccount } from '../../../src/upstreams/completion/attempt-account.js';
import type { AttemptContext } from '../../../src/upstreams/completion/attempt-context.js';
import { CallTrace, type AttemptTrace } from '../../../src/upstreams/completion/call-trace.js';
import { providerFailure } from '../../../src/upstreams/contract/provider-failure.js';
import type { RouteUse } from '../../../src/upstreams/routing/route-state.js';

const STARTED_MS = 30;
const FAILED = providerFailure('upstream_error', 'HTTP 500');

let trace: CallTrace;
let attempt: AttemptTrace;
let account: AttemptAccount;
/** What the route, the signal and the span were told, in order. */
let told: unknown[][];
/** The attempt, as the span reads it at its end. */
let seen: AttemptTrace | undefined;
let warn: Mock;

const tell = (what: string) => (fact: unknown) => {
  told.push(fact === undefined ? [what] : [what, fact]);
};

function open(isObserved = true): void {
  const use = { succeed: tell('succeed'), fail: tell('fail'), end: tell('end') };
  const observed = {
    headers: {},
    end: (ended: CallTrace) => {
      told.push(['span', ended]);
      seen = { ...attempt };
    },
  };
  account = new AttemptAccount(
    'acme/fast',
    { upstream: { name: 'acme' } } as RouteConfig,
    trace,
    attempt,
    use as unknown as RouteUse,
    { end: tell('signal') } as Partial<AttemptContext> as AttemptContext,
    isObserved ? observed : undefined,
  );
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined) as Mock;
  trace = new CallTrace('request-1');
  vi.advanceTimersByTime(STARTED_MS);
  attempt = trace.beginAttempt('acme');
  [told, seen] = [[], undefined];
  open();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('the account of an attempt', () => {
  it('that is accepted says nothing of the route yet', () => {
    account.accept();
    expect(attempt).toMatchObject({ accepted: true, firstTextMs: undefined, durationMs: undefined });
    expect(told).toEqual([]);
  });

  it('that has text has its time, and is a success of the route that goes on', () => {
    vi.advanceTimersByTime(12);
    account.text();
    expect(attempt).toMatchObject({ firstTextMs: 12, durationMs: undefined });
    expect(told).toEqual([['succeed']]);
  });

  it('that is complete is a success of the route, and ends', () => {
    vi.advanceTimersByTime(12);
    account.complete();
    const complete = expect.objectContaining({ message: 'The answer is complete.' }) as Error;
    expect(told).toEqual([['succeed'], ['end'], ['signal', complete], ['span', trace]]);
    expect(seen).toMatchObject({ durationMs: 12, firstTextMs: undefined, code: undefined });
    expect(warn).not.toHaveBeenCalled();
  });

  it('that is stopped ends, and says nothing of the route', () => {
    vi.advanceTimersByTime(12);
    account.stop();
    const stopped = expect.objectContaining({ message: 'The completion was stopped.' }) as Error;
    expect(told).toEqual([['end'], ['signal', stopped], ['span', trace]]);
    expect(seen).toMatchObject({ durationMs: 12, code: undefined });
    expect(warn).not.toHaveBeenCalled();
  });

  it('that fails is a failure of the route before it ends, with the code in its span', () => {
    vi.advanceTimersByTime(12);
    account.fail(FAILED);
    expect(told).toEqual([['fail', FAILED], ['end'], ['signal', FAILED], ['span', trace]]);
    expect(seen).toMatchObject({ durationMs: 12, code: 'upstream_error' });
  });

  it('needs no span', () => {
    open(false);
    account.complete();
    expect(told.map(([what]) => what)).toEqual(['succeed', 'end', 'signal']);
  });
});

describe('the log of a failed attempt', () => {
  it.each(['upstream_error', 'upstream_unavailable', 'upstream_timeout', 'upstream_rejected'] as const)(
    'has one line for %s, with the reason of the provider',
    (code) => {
      account.fail(providerFailure(code, 'HTTP 5xx'));
      expect(warn.mock.calls).toEqual([
        [
          {
            msg: 'An upstream failed',
            requestId: 'request-1',
            model: 'acme/fast',
            upstream: 'acme',
            code,
            reason: 'HTTP 5xx',
          },
        ],
      ]);
    },
  );

  it('has the message of a failure without a cause', () => {
    account.fail(new ServiceError('upstream_timeout', 'Nothing came.'));
    expect(warn.mock.calls).toMatchObject([[{ reason: 'Nothing came.' }]]);
  });

  it.each(['internal_error', 'content_filtered', 'invalid_request', 'unavailable'] as const)(
    'has no line for %s, which is no fault of the provider',
    (code) => {
      account.fail(new ServiceError(code, 'No fault of the provider.'));
      expect(warn).not.toHaveBeenCalled();
    },
  );
});
