import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { AuthModule, type AuthOptions } from './auth/auth.module.js';
import { SameOriginGuard } from './auth/same-origin/same-origin.guard.js';
import { AuthenticationGuard } from './auth/strategies/authentication.guard.js';
import { DurableClaimGuard } from './chat/durable/durable-claim.guard.js';
import { DurableModule, type DurableOptions } from './chat/durable/durable.module.js';
import { ChatModule } from './chat/chat.module.js';
import { CommonModule } from './common/common.module.js';
import { ExtensionsModule } from './common/extensions/extensions.module.js';
import type { Config } from './config/config.js';
import { ConfigModule } from './config/config.module.js';
import { DashboardModule } from './dashboard/dashboard.module.js';
import { PageErrorFilter } from './dashboard/errors/page-error.filter.js';
import { HealthModule } from './health/health.module.js';
import { BodyModule } from './http/body/body.module.js';
import { RequestBodyGuard } from './http/body/request-body.guard.js';
import { ServiceErrorFilter } from './http/errors/service-error.filter.js';
import { HttpModule } from './http/http.module.js';
import { RequestValidationPipe } from './http/request/request-validation.pipe.js';
import { ModelsModule } from './models/models.module.js';
import { ObservabilityModule } from './observability/observability.module.js';
import { ThrottlingModule, type ThrottlingOptions } from './throttling/throttling.module.js';
import { TierThrottlerGuard } from './throttling/tier-throttler.guard.js';
import { UpstreamsModule, type UpstreamsOptions } from './upstreams/upstreams.module.js';
import { LedgerTokensUsedModule } from './usage/reports/ledger-tokens-used.js';
import { UsageModule, type UsageOptions } from './usage/usage.module.js';

export interface AppOptions extends AuthOptions, DurableOptions, ThrottlingOptions, UpstreamsOptions, UsageOptions {
  /** The configuration. By default, it is loaded from the environment. */
  readonly config?: Config;
}

/**
 * The whole service. A custom application imports this module in addition to its own modules.
 *
 * @example
 * ```ts
 * @Module({})
 * class OurModule {}
 *
 * await bootstrap(() => ({
 *   module: OurModule,
 *   imports: [AppModule.register({ protocols: [new AcmeProtocol()] }), BillingModule],
 * }));
 * ```
 */
@Module({})
export class AppModule {
  static register({ config, ...options }: AppOptions = {}): DynamicModule {
    return {
      module: AppModule,
      imports: [
        CommonModule,
        ExtensionsModule.register(),
        BodyModule,
        ConfigModule.forRoot(config),
        HttpModule,
        AuthModule.register(options),
        UpstreamsModule.register(options),
        UsageModule.register(options),
        ThrottlingModule.register({ tokensUsed: LedgerTokensUsedModule, ...options }),
        DurableModule.register(options),
        ChatModule,
        ModelsModule,
        HealthModule,
        DashboardModule,
        ObservabilityModule,
      ],
      providers: [
        { provide: ServiceErrorFilter, useClass: PageErrorFilter },
        { provide: APP_FILTER, useExisting: ServiceErrorFilter },
        // The order matters. The guards identify the caller, check the origin of the request, find out whether the request
        // repeats another one, count the request against the limits of the tier, and then refuse an invalid body. A guard that needs the body reads it, see RequestBodies.
        { provide: APP_GUARD, useExisting: AuthenticationGuard },
        { provide: APP_GUARD, useExisting: SameOriginGuard },
        { provide: APP_GUARD, useExisting: DurableClaimGuard },
        { provide: APP_GUARD, useExisting: TierThrottlerGuard },
        { provide: APP_GUARD, useExisting: RequestBodyGuard },
        { provide: APP_PIPE, useExisting: RequestValidationPipe },
      ],
    };
  }
}
