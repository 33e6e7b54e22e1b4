import { Global, Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { AccountsModule } from './accounts/accounts.module.js';
import { AuthModule } from './auth/auth.module.js';
import { SameOriginGuard } from './auth/same-origin/same-origin.guard.js';
import { AuthenticationGuard } from './auth/strategies/authentication.guard.js';
import { ChatModule } from './chat/chat.module.js';
import { CommonModule } from './platform/common/common.module.js';
import { ExtensionsModule } from './platform/common/extensions/extensions.js';
import type { Config } from './platform/config/config.js';
import { ConfigModule, type AsyncConfig } from './platform/config/config.module.js';
import { HealthModule } from './health/health.module.js';
import { BodyModule, HttpModule } from './platform/http/http.module.js';
import { RequestBodyGuard } from './platform/http/body/request-body.guard.js';
import { ServiceErrorFilter } from './platform/http/errors/service-error.filter.js';
import { RequestValidationPipe } from './platform/http/request/request-validation.pipe.js';
import { ModelsModule } from './models/models.module.js';
import { PluginSet, type Plugin } from './plugin-api/plugin-set.js';
import { PluginsModule } from './plugin-api/plugin-configs.js';
import BUILT_IN_PLUGINS from './plugins/index.js';
import { RedisModule } from './platform/redis/redis.module.js';
import { RequestWatchModule } from './platform/start/request-watch.module.js';
import { ThrottlingModule } from './throttling/throttling.module.js';
import { AdmissionGuard } from './throttling/admission.guard.js';
import { TierThrottlerGuard } from './throttling/tier-throttler.guard.js';
import { UpstreamsModule } from './upstreams/upstreams.module.js';
import { UsageReportsModule } from './usage/queries/usage-reports.module.js';
import { UsageModule } from './usage/usage.module.js';

interface AppOptions {
  /** The configuration. By default, it is loaded from the environment. */
  readonly config?: Config;
  /** The plugins, in the order in which their extensions run. */
  readonly plugins?: readonly Plugin[];
}

/** As {@link AppOptions}, with a configuration that is loaded asynchronously, for example from a store of secrets. */
interface AsyncAppOptions extends AsyncConfig, Pick<AppOptions, 'plugins'> {}

/** Makes the public services of the service injectable everywhere, so that a plugin need not know their modules. */
@Global()
@Module({
  imports: [AccountsModule, ChatModule, ModelsModule, RedisModule, UsageReportsModule],
  exports: [AccountsModule, ChatModule, ModelsModule, RedisModule, UsageReportsModule],
})
class PublicServicesModule {}

/**
 * The whole service. A custom application imports this module, with its plugins.
 *
 * @since 1.0
 *
 * @example
 * ```ts
 * await bootstrap(() => AppModule.register({ plugins: [AcmePlugin, BillingPlugin] }));
 * ```
 */
@Module({})
export class AppModule {
  /** @throws {ConfigError} when the configuration or a plugin is invalid. */
  static register({ config, plugins = [] }: AppOptions = {}): DynamicModule {
    return serviceOf(ConfigModule.forRoot(config), new PluginSet(plugins, BUILT_IN_PLUGINS));
  }

  /** @throws {ConfigError} when a plugin is invalid. */
  static registerAsync({ plugins = [], ...config }: AsyncAppOptions): DynamicModule {
    return serviceOf(ConfigModule.forRootAsync(config), new PluginSet(plugins, BUILT_IN_PLUGINS));
  }
}

function serviceOf(config: DynamicModule, plugins: PluginSet): DynamicModule {
  return {
    module: AppModule,
    imports: [
      CommonModule,
      ExtensionsModule.register(plugins.extensions),
      BodyModule,
      config,
      PluginsModule.register(plugins.schemas),
      HttpModule,
      AuthModule,
      UpstreamsModule,
      UsageModule,
      ThrottlingModule.register({ limitStore: plugins.single('limitStore') }),
      ChatModule,
      ModelsModule,
      HealthModule,
      RequestWatchModule,
      PublicServicesModule,
      ...plugins.modules,
    ],
    providers: [
      { provide: APP_FILTER, useExisting: ServiceErrorFilter },
      // The request lifecycle. The order matters: a guard reads the body only after the caller is known and has quota left.
      { provide: APP_GUARD, useExisting: AuthenticationGuard },
      { provide: APP_GUARD, useExisting: SameOriginGuard },
      // The precheck: the load of the process, and limits that are exhausted for certain.
      { provide: APP_GUARD, useExisting: TierThrottlerGuard },
      { provide: APP_GUARD, useExisting: RequestBodyGuard },
      // Counts the request against the limits of the tier, unless it repeats another one.
      { provide: APP_GUARD, useExisting: AdmissionGuard },
      { provide: APP_PIPE, useExisting: RequestValidationPipe },
    ],
  };
}
