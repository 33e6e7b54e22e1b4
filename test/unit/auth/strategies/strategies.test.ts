import { Reflector, type ModuleRef } from '@nestjs/core';
import type { ExecutionContext, Provider } from '@nestjs/common';
import type { Request } from 'express';
import { Strategy } from 'passport';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiKeyVerifier } from '../../../../src/accounts/api-keys/api-key-verifier.js';
import type { LastUsedRecorder } from '../../../../src/accounts/api-keys/last-used-recorder.js';
import type { VerifiedSession } from '../../../../src/accounts/sessions/sessions.service.js';
import { AuthModule } from '../../../../src/auth/auth.module.js';
import { InProcessAttemptCounters } from '../../../../src/auth/attempts/in-process-attempt-counters.js';
import { RedisAttemptCounters } from '../../../../src/auth/attempts/redis-attempt-counters.js';
import { AttemptCounters } from '../../../../src/auth/attempts/attempt-counters.js';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import { PLUGIN_STRATEGIES } from '../../../../src/auth/strategies/all-strategies.js';
import { AuthenticationGuard } from '../../../../src/auth/strategies/authentication.guard.js';
import { BearerStrategy } from '../../../../src/auth/strategies/bearer.strategy.js';
import { SessionStrategy } from '../../../../src/auth/strategies/session.strategy.js';
import { ServiceError } from '../../../../src/common/service-error.js';
import type { TierConfig } from '../../../../src/config/config.js';
import { Public } from '../../../../src/http/routing/public.decorator.js';
import { extensionsOf } from '../../../support/extensions.js';

const TIER = { name: 'free' } as TierConfig;
const ADA: Principal = { accountId: 'ada', tier: TIER, credential: { kind: 'external', id: 'x' } };
const SESSION: VerifiedSession = {
  sessionId: 's1',
  account: { id: 'ada', email: 'ada@example.com', tier: TIER, role: 'member' },
};
const AWAY = new Error('The database is away.');
const SEND_A_KEY = 'Send an API key as "Authorization: Bearer <API key>".';

/** The methods that Passport gives to a strategy. */
interface Verdict {
  success(principal: Principal): void;
  fail(challenge?: string | number): void;
  pass(): void;
  error(error: unknown): void;
}

type Decision = (strategy: Verdict) => void;

/** A strategy that decides as the test says. */
class Decided extends Strategy {
  constructor(private readonly decide: Decision) {
    super();
  }

  override authenticate(): void {
    this.decide(this);
  }
}

class Routes {
  closed(): void {
    // Only its metadata matters.
  }

  @Public()
  open(): void {
    // Only its metadata matters.
  }
}

function requestWith(headers: Record<string, string> = {}, more: object = {}): Request {
  return { headers, context: {}, ip: '2001:db8:1:2:3:4:5:6', ...more } as unknown as Request;
}

function contextOf(request: Request, handler: keyof Routes = 'closed'): ExecutionContext {
  return {
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => ({}) }),
    getHandler: () => Routes.prototype[handler],
    getClass: () => Routes,
  } as unknown as ExecutionContext;
}

function newGuard(): AuthenticationGuard {
  return new AuthenticationGuard(new Reflector(), {} as ModuleRef, extensionsOf());
}

function guardOf(...decisions: Decision[]): AuthenticationGuard {
  const guard = newGuard();
  decisions.forEach((decide, index) => {
    guard.add({ strategyName: `strategy ${index}` }, new Decided(decide));
  });
  return guard;
}

describe('the guard of authentication', () => {
  const accept: Decision = (strategy) => {
    strategy.success(ADA);
  };
  const fail: Decision = (strategy) => {
    strategy.fail();
  };

  it('accepts the principal of the first strategy that knows the caller', async () => {
    const request = requestWith();
    const other: Decision = () => {
      throw new Error('It was asked.');
    };
    await expect(guardOf(fail, accept, other).canActivate(contextOf(request))).resolves.toBe(true);
    expect(request.context.principal).toBe(ADA);
  });

  it('calls no strategy on a public route', async () => {
    const request = requestWith();
    await expect(guardOf(accept).canActivate(contextOf(request, 'open'))).resolves.toBe(true);
    expect(request.context).toEqual({});
  });

  it('refuses a caller whom no strategy knows, with the challenge for a missing credential', async () => {
    const request = requestWith();
    await expect(guardOf(fail, fail).canActivate(contextOf(request))).rejects.toMatchObject({
      code: 'unauthenticated',
      message: SEND_A_KEY,
      headers: { 'WWW-Authenticate': 'Bearer realm="chat"' },
    });
    expect(request.context).toEqual({});
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

  it('sends the challenge of a single strategy', async () => {
    const guard = guardOf((strategy) => {
      strategy.fail('Basic realm="other"');
    });
    await expect(guard.canActivate(contextOf(requestWith()))).rejects.toMatchObject({
      message: SEND_A_KEY,
      headers: { 'WWW-Authenticate': 'Basic realm="other"' },
    });
  });

  it('refuses the caller of a strategy that passes the request on without a decision', async () => {
    const guard = guardOf((strategy) => {
      strategy.pass();
    }, accept);
    await expect(guard.canActivate(contextOf(requestWith()))).rejects.toMatchObject({
      code: 'unauthenticated',
      headers: { 'WWW-Authenticate': 'Bearer realm="chat"' },
    });
  });

  it('fails with the error of a strategy, whatever the next one says', async () => {
    const guard = guardOf((strategy) => {
      strategy.error(AWAY);
    }, accept);
    await expect(guard.canActivate(contextOf(requestWith()))).rejects.toBe(AWAY);
  });

  it('makes an error of what a strategy fails with', async () => {
    const guard = guardOf((strategy) => {
      strategy.error('away');
    });
    const failed = guard.canActivate(contextOf(requestWith()));
    await expect(failed).rejects.toBeInstanceOf(Error);
    await expect(failed).rejects.toMatchObject({ cause: 'away' });
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

  it('keeps the strategies of two applications apart', async () => {
    const [one, other] = [guardOf(accept), guardOf(fail)];
    await expect(one.canActivate(contextOf(requestWith()))).resolves.toBe(true);
    await expect(other.canActivate(contextOf(requestWith()))).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});

describe('API keys', () => {
  let touched: string[];
  let networks: string[];
  let guard: AuthenticationGuard;

  beforeEach(() => {
    [touched, networks] = [[], []];
    const account = { id: 'ada', tier: TIER };
    const keys = {
      verify: async (key: string, networkOf: () => string) => {
        await Promise.resolve();
        networks.push(networkOf());
        if (key === 'away') throw AWAY;
        return key === 'csk_good' ? { account, keyId: 'k1', prefix: 'csk_g' } : undefined;
      },
    } as unknown as ApiKeyVerifier;
    const lastUsed = { touch: (keyId: string) => touched.push(keyId) } as unknown as LastUsedRecorder;
    guard = newGuard();
    guard.add(BearerStrategy, new BearerStrategy(keys, lastUsed));
  });

  it('authenticate their account, and are noted as used', async () => {
    const request = requestWith({ authorization: 'Bearer csk_good' });
    await guard.canActivate(contextOf(request));
    expect(request.context.principal).toEqual({
      accountId: 'ada',
      tier: TIER,
      credential: { kind: 'api_key', keyId: 'k1', prefix: 'csk_g' },
    });
    expect([touched, networks]).toEqual([['k1'], ['2001:db8:1:2::/64']]);
  });

  it('that are unknown are refused, and not noted as used', async () => {
    const request = requestWith({ authorization: 'Bearer csk_bad' });
    await expect(guard.canActivate(contextOf(request))).rejects.toMatchObject({
      message: 'The API key is unknown, expired or revoked.',
      headers: { 'WWW-Authenticate': 'Bearer realm="chat", error="invalid_token"' },
    });
    expect(touched).toEqual([]);
  });

  it('that cannot be checked are not called unknown', async () => {
    const request = requestWith({ authorization: 'Bearer away' });
    await expect(guard.canActivate(contextOf(request))).rejects.toBe(AWAY);
  });

  it('count only in the header', async () => {
    const request = requestWith({}, { query: { access_token: 'csk_good' }, body: { access_token: 'csk_good' } });
    await expect(guard.canActivate(contextOf(request))).rejects.toMatchObject({
      message: SEND_A_KEY,
      headers: { 'WWW-Authenticate': 'Bearer realm="chat"' },
    });
    expect(networks).toEqual([]);
  });
});

describe('sessions', () => {
  const guard = newGuard();
  guard.add(SessionStrategy, new SessionStrategy());

  it('authenticate their account', async () => {
    const request = requestWith({}, { context: { session: SESSION } });
    await guard.canActivate(contextOf(request));
    expect(request.context.principal).toEqual({
      accountId: 'ada',
      tier: TIER,
      credential: { kind: 'session', sessionId: 's1' },
    });
  });

  it('that are missing are refused with the challenge for a missing credential', async () => {
    await expect(guard.canActivate(contextOf(requestWith()))).rejects.toMatchObject({
      headers: { 'WWW-Authenticate': 'Bearer realm="chat"' },
    });
  });

  it('that could not be looked up fail with that error', async () => {
    const request = requestWith({}, { context: { sessionFailure: AWAY } });
    await expect(guard.canActivate(contextOf(request))).rejects.toBe(AWAY);
  });
});

describe('the module of authentication', () => {
  it('calls its own strategies first, then those of plugins in their order, and hints at all of them', async () => {
    const asked: string[] = [];
    const decided = (name: string) =>
      new Decided((strategy) => {
        asked.push(name);
        strategy.fail();
      });
    class Team extends Strategy {
      static readonly strategyName = 'team';
      static readonly hint = 'Or send a token of the team.';
    }
    class Partner extends Strategy {
      static readonly strategyName = 'partner';
    }
    const instances = new Map<unknown, Strategy>([
      [BearerStrategy, decided('bearer')],
      [SessionStrategy, decided('session')],
      [Team, decided('team')],
      [Partner, decided('partner')],
    ]);
    const modules = { get: (type: unknown) => instances.get(type) } as unknown as ModuleRef;
    const guard = new AuthenticationGuard(new Reflector(), modules, extensionsOf(PLUGIN_STRATEGIES, [Team, Partner]));
    guard.onModuleInit();

    await expect(guard.canActivate(contextOf(requestWith()))).rejects.toMatchObject({
      message: `${SEND_A_KEY} Or send a token of the team.`,
    });
    expect(asked).toEqual(['bearer', 'session', 'team', 'partner']);
  });

  it('counts attempts in Redis where there is Redis', () => {
    const providers = Reflect.getMetadata('providers', AuthModule) as Provider[];
    const provider = providers.find((one) => 'provide' in one && one.provide === AttemptCounters);
    const { useFactory } = provider as { useFactory: (redis: unknown) => unknown };
    expect(useFactory(undefined)).toBeInstanceOf(InProcessAttemptCounters);
    expect(useFactory({ client: {} })).toBeInstanceOf(RedisAttemptCounters);
  });
});
