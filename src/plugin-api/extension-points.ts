import { AUDIT_SINKS } from '../accounts/audit/audit-sinks.js';
import { PLUGIN_STRATEGIES } from '../auth/strategies/all-strategies.js';
import { COMPLETION_HOOKS } from '../chat/hooks/completion-hook.js';
import { DEFINED_ERRORS } from '../platform/http/open-api/defined-errors.js';
import type { ExtensionPoint } from '../platform/common/extensions/extensions.js';
import { API_DESCRIPTIONS } from '../platform/http/open-api/serve-open-api.js';
import { PLUGIN_MIGRATIONS } from '../platform/database/migrations/all-migrations.js';
import { READINESS_CHECKS } from '../health/plugin-readiness.js';
import { MODEL_SOURCES } from '../models/sourced-models.js';
import { ACCOUNT_LIMITS } from '../throttling/account-limits.js';
import { PLUGIN_CREDENTIALS } from '../upstreams/credentials/credential-sources.js';
import { PLUGIN_PROTOCOLS } from '../upstreams/protocols/protocol-registry.js';
import { USAGE_FEEDS } from '../usage/usage-feeds.js';
import { METRICS_PROVIDERS } from './metrics.js';
import { NAVIGATION_ENTRIES } from './page-extensions.js';
import type { PluginDescription } from './plugin-description.js';

type Member = keyof PluginDescription;

/** The members of a description with lists of extensions that Nest creates. */
export const CREATED_EXTENSIONS = new Map<Member, ExtensionPoint<object>>([
  ['protocols', PLUGIN_PROTOCOLS],
  ['credentials', PLUGIN_CREDENTIALS],
  ['strategies', PLUGIN_STRATEGIES],
  ['completionHooks', COMPLETION_HOOKS],
  ['auditSinks', AUDIT_SINKS],
  ['usageFeeds', USAGE_FEEDS],
  ['modelSources', MODEL_SOURCES],
  ['metrics', METRICS_PROVIDERS],
  ['readiness', READINESS_CHECKS],
  ['limits', ACCOUNT_LIMITS],
]);

/** The members with one extension that Nest creates. It replaces the one of the service. */
export const SINGLE_EXTENSIONS = ['limitStore'] as const satisfies readonly Member[];

/** The members with lists of plain values. */
export const VALUE_EXTENSIONS = new Map<Member, ExtensionPoint<object>>([
  ['strategies', PLUGIN_STRATEGIES],
  ['migrations', PLUGIN_MIGRATIONS],
  ['errors', DEFINED_ERRORS],
  ['openApi', API_DESCRIPTIONS],
  ['navigation', NAVIGATION_ENTRIES],
]);
