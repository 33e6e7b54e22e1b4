import { Global, Module, type DynamicModule } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { AuthenticationGuard, STRATEGY_NAMES } from './authentication.guard.js';
import { STRATEGIES, type StrategyType } from './strategies.js';

export interface AuthOptions {
  /** Strategies of a team's own, asked after {@link STRATEGIES}. */
  readonly strategies?: readonly StrategyType[];
}

/** Says who makes a request. */
@Global()
@Module({})
export class AuthModule {
  static register({ strategies = [] }: AuthOptions = {}): DynamicModule {
    const all = [...STRATEGIES, ...strategies];
    return {
      module: AuthModule,
      imports: [AccountsModule],
      providers: [
        ...all,
        { provide: STRATEGY_NAMES, useValue: all.map(({ strategyName }) => strategyName) },
        AuthenticationGuard,
      ],
      exports: [AuthenticationGuard],
    };
  }
}
