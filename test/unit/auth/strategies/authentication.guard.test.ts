import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import { AuthenticationGuard } from '../../../../src/auth/strategies/authentication.guard.js';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import { contextOf, requestWith, TIER } from '../requests.js';
import { Decided, type Decision, newGuard } from './callers.js';

const ADA: Principal = { accountId: 'ada', tier: TIER, credential: { kind: 'external', id: 'x' } };

function guardOf(...decisions: Decision[]): AuthenticationGuard {
  const guard = newGuard();
  for (const decide of decisions) guard.add(new Decided(decide));
  return guard;
}

describe('the guard of authentication', () => {
  it('gives requests at the same time their own principals, in any order of the answers', async () => {
    const decisions: (() => void)[] = [];
    const bob: Principal = { ...ADA, accountId: 'bob' };
    const principals = [ADA, bob];
    const guard = guardOf((strategy) => {
      const principal = principals[decisions.length];
      decisions.push(() => {
        if (principal === undefined) strategy.fail();
        else strategy.success(principal);
      });
    });
    const requests = [requestWith(), requestWith(), requestWith()];
    const answers = requests.map((request) => guard.canActivate(contextOf(request)));
    const outcomes = Promise.allSettled(answers);
    await expect.poll(() => decisions.length).toBe(3);
    for (const decide of decisions.reverse()) decide();
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(requests.map(({ context }) => context.principal)).toEqual([ADA, bob, undefined]);
  });

  it('sends the first challenge of a strategy that is a text', async () => {
    const guard = guardOf(
      (strategy) => {
        strategy.fail(400);
      },
      (strategy) => {
        strategy.fail('Bearer realm="chat", error="invalid_token"');
      },
      (strategy) => {
        strategy.fail('Basic realm="other"');
      },
    );
    await expect(guard.canActivate(contextOf(requestWith()))).rejects.toMatchObject({
      code: 'unauthenticated',
      message: 'The API key is unknown, expired or revoked.',
      headers: { 'WWW-Authenticate': 'Bearer realm="chat", error="invalid_token"' },
    });
  });

  const failingWith = (error: unknown) =>
    guardOf((strategy) => {
      strategy.error(error);
    }).canActivate(contextOf(requestWith()));

  it('adds a challenge to the refusal of a strategy, as HTTP demands, and keeps its words', async () => {
    const refused = failingWith(new ServiceError('unauthenticated', 'This badge has expired.'));
    await expect(refused).rejects.toMatchObject({
      code: 'unauthenticated',
      message: 'This badge has expired.',
      headers: { 'WWW-Authenticate': 'Bearer realm="chat", error="invalid_token"' },
    });
  });

  it.each([
    new ServiceError('unauthenticated', 'No.', { headers: { 'WWW-Authenticate': 'Badge' } }),
    new ServiceError('unavailable', 'The badges cannot be read.'),
  ])('leaves the failure of a strategy as it is: $message', async (error) => {
    await expect(failingWith(error)).rejects.toBe(error);
  });
});
