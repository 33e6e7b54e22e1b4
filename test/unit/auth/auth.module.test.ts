import { Reflector, type ModuleRef } from '@nestjs/core';
import { Strategy } from 'passport';
import { describe, expect, it } from 'vitest';
import { PLUGIN_STRATEGIES } from '../../../src/auth/strategies/all-strategies.js';
import { AuthenticationGuard } from '../../../src/auth/strategies/authentication.guard.js';
import { BearerStrategy } from '../../../src/auth/strategies/bearer.strategy.js';
import { SessionStrategy } from '../../../src/auth/strategies/session.strategy.js';
import { extensionsOf } from '../../support/extensions.js';
import { contextOf, requestWith } from './requests.js';
import { Decided, NO_OPERATORS, SEND_A_KEY } from './strategies/callers.js';

describe('the module of authentication', () => {
  it('calls its own strategies first, then those of plugins in their order, and hints at all of them', async () => {
    const tried: string[] = [];
    const decided = (name: string) =>
      new Decided((strategy) => {
        tried.push(name);
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
    const guard = new AuthenticationGuard(
      new Reflector(),
      modules,
      extensionsOf(PLUGIN_STRATEGIES, [Team, Partner]),
      NO_OPERATORS,
    );
    guard.onModuleInit();

    await expect(guard.canActivate(contextOf(requestWith()))).rejects.toMatchObject({
      message: `${SEND_A_KEY} Or send a token of the team.`,
    });
    expect(tried).toEqual(['bearer', 'session', 'team', 'partner']);
  });
});
