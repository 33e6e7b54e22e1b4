import type { ModuleMetadata, Type } from '@nestjs/common';
import type { AuditSink } from '../accounts/audit/audit-sinks.js';
import type { MigrationInterface } from 'typeorm';
import type { StrategyType } from '../auth/strategies/all-strategies.js';
import type { CompletionHook } from '../chat/hooks/completion-hook.js';
import type { DefinedError } from '../platform/common/service-error.js';
import type { Extension } from '../platform/common/extensions/extensions.js';
import type { DescribeApi } from '../platform/http/open-api/serve-open-api.js';
import type { ReadinessCheck } from '../health/plugin-readiness.js';
import type { ModelSource } from '../models/sourced-models.js';
import type { AccountLimits } from '../throttling/account-limits.js';
import type { LimitStore } from '../throttling/limit-store.js';
import type { CredentialSource } from '../upstreams/contract/credential.js';
import type { OptionsSchema } from '../upstreams/contract/options-schema.js';
import type { Protocol } from '../upstreams/contract/protocol.js';
import type { MetricsProvider } from './metrics.js';
import type { NavigationEntry } from './page-extensions.js';
import type { UsageFeed } from '../usage/usage-feeds.js';

/** The command line of a command. */
interface CommandLine {
  /** The name as the operator types it, such as `prompts list`. */
  readonly name: string;
  /** Required options by name, without dashes, each with the placeholder for its value in the usage text. */
  readonly required?: Readonly<Record<string, string>>;
  /** Optional options, in the same form. */
  readonly optional?: Readonly<Record<string, string>>;
  /** Options without a value. A flag on the command line has the value `true`. */
  readonly flags?: readonly string[];
}

/**
 * A command of the admin program.
 *
 * @since 1.0
 */
export interface AdminCommand {
  /**
   * @param options the options by name. Required options always have a value.
   * @returns a value to print as one line of JSON, or a text to print unchanged.
   * @throws {ServiceError} when the command cannot do what it should. The operator sees the message.
   */
  run(options: Readonly<Record<string, string | undefined>>): Promise<unknown>;
}

/** An injectable command. */
interface AdminCommandType extends Type<AdminCommand> {
  readonly command: CommandLine;
}

/**
 * The commands of a plugin. The admin program does not serve requests, so it creates only the commands and what they name
 * here. The database with the entities of the plugin, `PLUGIN_CONFIG`, `AccountsService`, `ApiKeysService` and
 * `UsageReports` are there.
 */
interface AdminExtension extends Pick<ModuleMetadata, 'imports' | 'providers'> {
  readonly commands: readonly AdminCommandType[];
}

/**
 * What a plugin adds to the service. The class with the description is an ordinary Nest module. Nest creates each extension in
 * that module, so an extension can inject what the module provides and imports, and all public services.
 */
export interface PluginDescription extends ModuleMetadata {
  /** Lower-case letters, digits and hyphens. Unique in the application. */
  readonly name: string;
  /** The versions of the service for which the plugin is made: `^1`, `^1.2` or `^1.2.3`. */
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
  /** Sources of credentials for upstreams. One with the kind of a built-in source replaces it. */
  readonly credentials?: readonly Extension<CredentialSource>[];
  /** Ways to authenticate. They run after the API keys and the sessions. */
  readonly strategies?: readonly StrategyType[];
  /** Hooks around every completion. */
  readonly completionHooks?: readonly Extension<CompletionHook>[];
  /** Receivers of every record of the ledger, at least once, through restarts. */
  readonly usageFeeds?: readonly Extension<UsageFeed>[];
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

  /** TypeORM entities in the database of the service. Inject their repositories with `@InjectRepository(…)`. */
  readonly entities?: readonly Type<object>[];
  /** Migrations of the plugin's own tables. They run at the start, under the same lock as those of the service. */
  readonly migrations?: readonly Type<MigrationInterface>[];

  /** The errors of the plugin, for the OpenAPI document. */
  readonly errors?: readonly DefinedError[];
  /** Functions that add to the OpenAPI document what no decorator knows, such as the schemas of bodies. */
  readonly openApi?: readonly DescribeApi[];
  /** Entries for the navigation of the web application. */
  readonly navigation?: readonly NavigationEntry[];
  /** Stylesheets, ES modules and images for the pages of the plugin. A page names them `<plugin>/<file name>`. */
  readonly assets?: readonly URL[];
  /** Commands for `runAdmin`. */
  readonly admin?: AdminExtension;
}
