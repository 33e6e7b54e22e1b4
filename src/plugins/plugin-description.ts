import type { AuditSink } from '../accounts/audit/audit-sink.js';
import type { ModuleMetadata, Type } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';
import type { StrategyType } from '../auth/strategies/all-strategies.js';
import type { CompletionHook } from '../chat/hooks/completion-hook.js';
import type { DefinedError } from '../common/define-error.js';
import type { Extension } from '../common/extensions/extension-point.js';
import type { NavigationEntry } from '../dashboard/layout/navigation.js';
import type { ReadinessCheck } from '../health/readiness-check.js';
import type { ModelSource } from '../models/model-source.js';
import type { MetricsProvider } from '../observability/metrics/plugin-metrics.js';
import type { AccountLimits } from '../throttling/account-limits.js';
import type { LimitStore } from '../throttling/limit-store.js';
import type { TokensUsed } from '../throttling/tokens/tokens-used.js';
import type { OptionsSchema } from '../upstreams/contract/options-schema.js';
import type { Protocol } from '../upstreams/contract/protocol.js';
import type { UsageFeed } from '../usage/feeds/usage-feed.js';
import type { UsageSink } from '../usage/record/usage-sink.js';
import type { UsageStore } from '../usage/store/usage-store.js';
import type { AdminExtension } from './admin-command.js';

/**
 * What a plugin adds to the service. The class with the description is an ordinary Nest module. Nest creates each extension in
 * that module, so an extension can inject what the module provides and imports, and all public services.
 */
export interface PluginDescription extends ModuleMetadata {
  /** Lower-case letters, digits and hyphens. Unique in the application. */
  readonly name: string;
  /** The versions of the service for which the plugin is made: a range of npm, such as `^1`, `^1.2` or `>=1.2 <3`. */
  readonly compatibility: string;
  /**
   * The schema of `plugins.<name>` in CONFIG_FILE: a schema of zod, or of another library with the Standard Schema interface.
   * Inject the checked value with `@Inject(PLUGIN_CONFIG)`.
   */
  readonly config?: OptionsSchema;
  /**
   * Whether the plugin uses a changed CONFIG_FILE without a restart. The injected configuration then always has the members of the latest
   * valid file: read them when they are needed. The schema must return an object.
   */
  readonly liveConfig?: boolean;
  /**
   * The schema of `tiers.<tier>.plugins.<name>` in CONFIG_FILE, for what accounts of a tier may do. The checked value is
   * `principal.tier.plugins.<name>`. A missing value is checked as an empty object, so that defaults apply.
   */
  readonly tier?: OptionsSchema;

  /** Wire protocols of providers. One with the name of a built-in protocol replaces it. */
  readonly protocols?: readonly Extension<Protocol>[];
  /** Ways to authenticate. They run after the API keys and the sessions. */
  readonly strategies?: readonly StrategyType[];
  /** Hooks around every completion. */
  readonly completionHooks?: readonly Extension<CompletionHook>[];
  /** Receivers of every record of the ledger, at least once, through restarts. */
  readonly usageFeeds?: readonly Extension<UsageFeed>[];
  /** Receivers of the record of each finished stream of this process, at best effort. */
  readonly usageSinks?: readonly Extension<UsageSink>[];
  /** Receivers of the entries of the audit log. */
  readonly auditSinks?: readonly Extension<AuditSink>[];
  /** Models in addition to those of CONFIG_FILE. They can change while the service runs. */
  readonly modelSources?: readonly Extension<ModelSource>[];
  /** Metrics for `/metrics`. */
  readonly metrics?: readonly Extension<MetricsProvider>[];
  /** Parts of `GET /health/ready`. */
  readonly readiness?: readonly Extension<ReadinessCheck>[];

  /** Limits of accounts in addition to those of their tiers. */
  readonly limits?: readonly Extension<AccountLimits>[];
  /** Counts the use of limits, instead of Redis or the memory of the process. At most one plugin has this member. */
  readonly limitStore?: Extension<LimitStore>;
  /** Tells which tokens were used before a counter began, instead of the ledger. At most one plugin has this member. */
  readonly tokensUsed?: Extension<TokensUsed>;
  /** Stores the ledger, instead of the database of the service. At most one plugin has this member. */
  readonly usageStore?: Extension<UsageStore>;

  /** TypeORM entities in the database of the service. Inject their repositories with `@InjectRepository(…)`. */
  readonly entities?: readonly Type<object>[];
  /** Migrations of the plugin's own tables. They run at the start, under the same lock as those of the service. */
  readonly migrations?: readonly Type<MigrationInterface>[];

  /** The errors of the plugin, for the OpenAPI document. */
  readonly errors?: readonly DefinedError[];
  /** Entries for the navigation of the web application. */
  readonly navigation?: readonly NavigationEntry[];
  /** Stylesheets, ES modules and images for the pages of the plugin. A page names them `<plugin>/<file name>`. */
  readonly assets?: readonly URL[];
  /** Commands for `runAdmin`. */
  readonly admin?: AdminExtension;
}
