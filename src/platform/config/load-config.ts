import {
  LOG_LEVELS,
  type BuiltInPlugin,
  type Config,
  type CredentialsConfig,
  type LogLevel,
  type ModelConfig,
  type TierConfig,
  type UpstreamConfig,
  type WebhookConfig,
} from './config.js';
import { ConfigError } from './config-error.js';
import { MICROS } from './limits/budget.js';
import { LIMIT_NAMES, LIMITS } from './limits/limit-table.js';
import { defaultMaxStreams, maxConnectionsFor } from './limits/capacity.js';
import { modelOf } from './model-of.js';
import { webhookOf } from './webhook-of.js';
import type { ConfigFile, UpstreamEntry } from './sources/config-file.js';
import { readConfigFile, type ReadConfigFile } from './sources/read-config-file.js';
import { DEFAULT_SERVICE_NAME, readEnvironment, type Environment } from './sources/environment.js';
import { pluginVariables } from './sources/plugin-variables.js';
import { singleSignOnOf } from './sources/single-sign-on-environment.js';
import { interpolate, interpolateAll, type Variables } from './sources/interpolation.js';

/** The file that is used if CONFIG_FILE is unset. */
export const BUILT_IN_CATALOG = new URL('./catalog.yaml', import.meta.url);
const BUILT_IN_NAME = 'the built-in catalog';

let builtIn: ReadConfigFile | undefined;

/** It does not change while the process runs, and to parse it takes longer than the rest of the configuration. */
function readBuiltInCatalog(): ReadConfigFile {
  builtIn ??= readConfigFile(BUILT_IN_CATALOG, BUILT_IN_NAME);
  return builtIn;
}

/**
 * Loads the configuration from the environment and CONFIG_FILE.
 *
 * @throws {ConfigError} that names every problem of both at once.
 * @since 1.0
 */
export function loadConfig(variables: Variables = process.env): Config {
  const { environment, problems } = readEnvironment(variables);
  const path = variables['CONFIG_FILE'] || undefined;
  const shownAs = path === undefined ? BUILT_IN_NAME : 'CONFIG_FILE';
  const read = path === undefined ? readBuiltInCatalog() : readConfigFile(path, shownAs);
  const { file, hash = '', problems: problemsOfFile } = read;
  problems.push(...problemsOfFile);

  const upstreams = new Map<string, UpstreamConfig>();
  const unset = new Set<string>();
  for (const [name, entry] of Object.entries(file?.upstreams ?? {})) {
    const { upstream, problems: ofUpstream = [], missing = [] } = configureUpstream(name, entry, variables);
    for (const variable of missing) unset.add(variable);
    problems.push(...ofUpstream.map((problem) => `${shownAs}.upstreams.${name}.${problem}`));
    if (upstream !== undefined) upstreams.set(name, upstream);
  }

  const builtInPlugins = new Set(environment?.PLUGINS);
  const webhooks = new Map<string, WebhookConfig>();
  for (const [name, entry] of Object.entries(file?.webhooks ?? {})) {
    const { webhook, problems: ofWebhook } = webhookOf(name, entry, variables);
    problems.push(...ofWebhook.map((problem) => `${shownAs}.webhooks.${name}.${problem}`));
    if (webhook !== undefined) webhooks.set(name, webhook);
  }

  const plugins = new Map<string, unknown>();
  for (const [name, entry] of Object.entries(file?.plugins ?? {})) {
    const { value, missing } = interpolateAll(entry, variables);
    problems.push(...missing.map((variable) => `${shownAs}.plugins.${name}: the variable ${variable} is unset`));
    plugins.set(name, value);
  }

  if (environment === undefined || file === undefined || problems.length > 0) throw new ConfigError(problems);
  return {
    ...fromEnvironment(environment, builtInPlugins),
    catalogName: shownAs,
    catalogPath: path,
    catalogHash: hash,
    ...fromFile(file, upstreams, variables, unset),
    webhooks: builtInPlugins.has('webhooks') ? webhooks : new Map(),
    plugins,
    pluginVariables: pluginVariables(variables),
  };
}

function fromEnvironment(environment: Environment, builtInPlugins: ReadonlySet<BuiltInPlugin>) {
  const production = environment.NODE_ENV === 'production';
  const maxStreams = environment.MAX_STREAMS ?? defaultMaxStreams();
  return {
    production,
    host: environment.HOST,
    port: environment.PORT,
    database: environment.DATABASE_URL,
    redisUrl: environment.REDIS_URL,
    logLevel: environment.LOG_LEVEL,
    trustedProxies: environment.TRUST_PROXY,
    shutdownGraceMs: environment.SHUTDOWN_GRACE_SECONDS * 1000,
    stalledReaderMs: environment.STALLED_READER_SECONDS * 1000,
    streamRetentionMs: environment.STREAM_RETENTION_SECONDS * 1000,
    streamDetachedMs: environment.STREAM_DETACHED_SECONDS * 1000,
    streamMemoryBytes: environment.STREAM_MEMORY_MB * 1024 * 1024,
    unreadResponseMs: environment.UNREAD_ANSWER_SECONDS * 1000,
    maxStreams,
    maxConnections: maxConnectionsFor(maxStreams),
    usageRetentionDays: environment.USAGE_RETENTION_DAYS,
    auditRetentionDays: environment.AUDIT_RETENTION_DAYS,
    metricsPort: builtInPlugins.has('metrics') ? environment.METRICS_PORT : undefined,
    tracing: builtInPlugins.has('tracing') ? tracingOf(environment) : undefined,
    signUp: environment.PASSWORDS === 'off' ? 'closed' : (environment.SIGN_UP ?? (production ? 'closed' : 'open')),
    passwords: environment.PASSWORDS,
    singleSignOn: builtInPlugins.has('single-sign-on') ? singleSignOnOf(environment) : undefined,
    publicUrl: environment.PUBLIC_URL,
    apiDocs: environment.API_DOCS,
    builtInPlugins,
    compatibleApis: builtInPlugins.has('compatible') ? environment.COMPATIBLE_APIS : [],
    corsOrigins: environment.CORS_ORIGINS ?? [],
  } as const;
}

function tracingOf({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_RESOURCE_ATTRIBUTES: resourceAttributes = {},
  OTEL_SERVICE_NAME: serviceName = resourceAttributes['service.name'] ?? DEFAULT_SERVICE_NAME,
}: Environment) {
  return endpoint === undefined ? undefined : { endpoint, serviceName, resourceAttributes };
}

/** @param unset the unset variables of upstreams. The unset variables of routes are added. */
function fromFile(
  file: ConfigFile,
  upstreams: ReadonlyMap<string, UpstreamConfig>,
  variables: Variables,
  unset: Set<string>,
) {
  const models = file.models.flatMap((entry): ModelConfig[] => {
    const model = modelOf(entry, upstreams, file.currency, (template) => {
      const { text, missing } = interpolate(template, variables);
      for (const variable of missing) unset.add(variable);
      return missing.length > 0 ? undefined : text;
    });
    return model === undefined ? [] : [model];
  });
  const tiers = new Map(
    Object.entries(file.tiers).map(([name, tier]): [string, TierConfig] => [
      name,
      {
        name,
        maxTokens: tier.max_tokens,
        plugins: tier.plugins ?? {},
        budget: tier.budget && { micros: Math.round(tier.budget.amount * MICROS), per: tier.budget.per },
        ...Object.fromEntries(LIMIT_NAMES.map((limit) => [limit, tier[LIMITS[limit].member]])),
      },
    ]),
  );
  // The check of the file guarantees that the default tier exists.
  const defaultTier = tiers.get(file.default_tier) as TierConfig;
  const offered = new Set(models.map(({ id }) => id));
  const leftOut = {
    variables: [...unset],
    models: file.models.map(({ id }) => id).filter((id) => !offered.has(id)),
  };
  return { upstreams, models, leftOut, tiers, defaultTier, currency: file.currency };
}

interface ConfiguredUpstream {
  readonly upstream?: UpstreamConfig;
  /** Describe what is invalid, with the path inside the upstream. */
  readonly problems?: readonly string[];
  /** The unset variables, because of which there is no upstream. */
  readonly missing?: readonly string[];
}

function configureUpstream(name: string, entry: UpstreamEntry, variables: Variables): ConfiguredUpstream {
  const unset: string[] = [];
  const fill = (template: string) => {
    const { text, missing } = interpolate(template, variables);
    unset.push(...missing);
    return text;
  };
  const baseUrl = entry.base_url === undefined ? undefined : fill(entry.base_url);
  const apiKey = entry.api_key === undefined ? undefined : fill(entry.api_key);
  const headers = Object.fromEntries(Object.entries(entry.headers).map(([header, value]) => [header, fill(value)]));
  const options = interpolateAll(entry.options, variables);
  const credentials = credentialsOf(entry.credentials, variables);
  unset.push(...options.missing, ...credentials.missing);
  if (unset.length > 0) return { missing: unset };

  const problems = [...problemsOfAddress(baseUrl), ...problemsOfHeaders(apiKey, headers)];
  if (apiKey !== undefined && credentials.value !== undefined)
    problems.push('credentials: an upstream has either api_key or credentials');
  if (problems.length > 0) return { problems };
  const upstream = {
    name,
    protocol: entry.protocol,
    baseUrl: baseUrl === undefined ? undefined : new URL(baseUrl),
    apiKey,
    credentials: credentials.value,
    headers,
    timeouts: {
      connectMs: entry.timeouts.connect_ms,
      firstTokenMs: entry.timeouts.first_token_ms,
      idleMs: entry.timeouts.idle_ms,
    },
    options: options.value,
    maxTokensField: entry.max_tokens_field,
    includeUsage: entry.include_usage,
    maxEventBytes: entry.max_event_bytes,
    providerMessages: entry.provider_messages,
  };
  return { upstream };
}

/** The variables of the workload identities and managed identities of Azure. A member of CONFIG_FILE replaces them. */
const AZURE_DEFAULTS = {
  tenant_id: '${AZURE_TENANT_ID:-}',
  client_id: '${AZURE_CLIENT_ID:-}',
  client_secret: '${AZURE_CLIENT_SECRET:-}',
  federated_token_file: '${AZURE_FEDERATED_TOKEN_FILE:-}',
  authority_host: '${AZURE_AUTHORITY_HOST:-}',
  imds_host: '${AZURE_POD_IDENTITY_AUTHORITY_HOST:-}',
  identity_endpoint: '${IDENTITY_ENDPOINT:-}',
  identity_header: '${IDENTITY_HEADER:-}',
};

interface FilledCredentials {
  readonly value?: CredentialsConfig | undefined;
  readonly missing: readonly string[];
}

function credentialsOf(entry: UpstreamEntry['credentials'], variables: Variables): FilledCredentials {
  if (entry === undefined) return { missing: [] };
  const { kind, ...members } = entry;
  const defaults = kind === 'azure' ? AZURE_DEFAULTS : {};
  const { value, missing } = interpolateAll({ ...defaults, ...members }, variables);
  return { value: { kind, options: value as CredentialsConfig['options'] }, missing };
}

function problemsOfAddress(baseUrl: string | undefined): string[] {
  if (baseUrl === undefined) return [];
  if (!/^https?:\/\//.test(baseUrl)) return ['base_url: must start with http:// or https://'];
  return URL.canParse(baseUrl) ? [] : ['base_url: must be a valid URL'];
}

function problemsOfHeaders(apiKey: string | undefined, headers: Readonly<Record<string, string>>): string[] {
  const values = [
    ['api_key', apiKey ?? ''],
    ...Object.entries(headers).map(([name, value]) => [`headers.${name}`, value]),
  ];
  return values
    .filter(([, value = '']) => !/^[\t\x20-\x7e]*$/.test(value))
    .map(([path = '']) => `${path}: contains a character that is not allowed in a header`);
}

/**
 * Returns the level for what is logged before the configuration is loaded, such as migrations: LOG_LEVEL, or `info` if the
 * variable is unset or invalid. An invalid value ends the start later, with all other problems.
 */
export function startLogLevel(variables: NodeJS.ProcessEnv = process.env): LogLevel {
  return LOG_LEVELS.find((level) => level === variables['LOG_LEVEL']) ?? 'info';
}
