// The public API of the package, for custom applications that extend the service. A test counts the exports.
import 'reflect-metadata';

export { AppModule } from './app.module.js';
export { bootstrap } from './platform/start/bootstrap.js';
export { CONFIG, type Config, type TierConfig, type UpstreamConfig } from './platform/config/config.js';
export { loadConfig } from './platform/config/load-config.js';
export { CLOCK, type Clock } from './platform/common/clock.js';
export { AtomicStatements, type Statement } from './platform/database/queries/atomic-statements.js';

export { ChatPlugin } from './plugin-api/chat-plugin.decorator.js';
export { PluginRedis } from './plugin-api/plugin-redis.js';
export { PLUGIN_CONFIG } from './plugin-api/plugin-configs.js';
export type { NavigationEntry } from './plugin-api/page-extensions.js';
export type { AdminCommand } from './plugin-api/plugin-description.js';
export { defineError, ServiceError, type DefinedError } from './platform/common/service-error.js';

export type { AccountChange } from './accounts/credentials/account-changes.js';
export type { Account } from './accounts/account/account.entity.js';
export { AccountsService } from './accounts/accounts/accounts.service.js';
export { ApiKeysService } from './accounts/api-keys/api-keys.service.js';
export type { AuditEntry } from './accounts/audit/audit-log.js';
export type { AuditSink } from './accounts/audit/audit-sinks.js';
export { isFromTrustedProxy } from './auth/same-origin/public-origin.js';
export { CurrentPrincipal, type Principal } from './auth/principal/principal.js';
export { SessionStart } from './auth/session/session-cookie.js';
export { SessionOnly } from './auth/session/session.guard.js';
export type { SecurityScheme } from './auth/strategies/all-strategies.js';

export { ChatRequest } from './chat/request/chat-request.dto.js';
export { Caller, type ChatCaller } from './chat/chat-caller.js';
export type { RecordedParts } from './chat/running-completion.js';
export { ChatService } from './chat/chat.service.js';
export { sseEvent, type StreamFormat } from './chat/stream/stream-format.js';
export { StreamSender } from './chat/stream/stream-sender.js';
export type { CompletionHook, HookContext } from './chat/hooks/completion-hook.js';

export { ApiErrors } from './platform/http/open-api/api-errors.decorator.js';
export { Form } from './platform/http/body/body-class.decorator.js';
export { OutsideApi, Surface } from './platform/http/surface/surface.decorator.js';
export { Public } from './platform/http/routing/route-decorators.js';

export { LimitedByTier, OpensStream } from './throttling/limited-by-tier.decorator.js';
export type { AccountLimit, AccountLimits, LimitedCall } from './throttling/account-limits.js';
export { LimitStore, type Admission, type AdmissionRequest, type Limit } from './throttling/limit-store.js';
export { TokensUsed } from './throttling/tokens/tokens-used.js';

export { ModelCatalog } from './models/model-catalog.js';
export type { ModelSource } from './models/sourced-models.js';
export type { ModelDefinition } from './platform/config/model-of.js';

export type {
  CallContext,
  ChatCall,
  AnswerReader,
  HttpProtocol,
  InProcessProtocol,
  UpstreamRequest,
  Framing,
  ProviderEvent,
} from './upstreams/contract/protocol.js';
export type { Credential, CredentialContext, CredentialSource } from './upstreams/contract/credential.js';
export type { ConversationRequest } from './upstreams/contract/conversation.js';
export {
  credentialsUnavailable,
  providerFailure,
  type ProviderFailure,
} from './upstreams/contract/provider-failure.js';
export type { CompletionPart, StreamPart } from './upstreams/contract/stream-part.js';
export { OpenAiProtocol } from './upstreams/protocols/openai/openai.js';
export { endpoint, streamHeaders } from './upstreams/protocols/shared/endpoint.js';
export { errorEventParts, unreadableEventParts } from './upstreams/protocols/shared/event-parts.js';
export { isText, parseJsonObject, type JsonObject } from './upstreams/protocols/shared/json-object.js';
export { optionMembers } from './upstreams/protocols/shared/json-request.js';
export { tokenCount, tokenUsage } from './upstreams/protocols/shared/token-count.js';
export { ndjson } from './upstreams/transport/json-stream-decoders.js';

export type { UsageFeed } from './usage/usage-feeds.js';
export type { LedgerRow } from './usage/store/record-columns.js';
export type { UsageRecord } from './usage/record/usage-record.js';
export { UsageReports } from './usage/queries/usage-reports.js';

export type { ReadinessCheck } from './health/plugin-readiness.js';
export { Histogram } from './platform/common/counts/counters.js';
export type { MetricFamily, MetricsProvider } from './plugin-api/metrics.js';

export * from './plugins/index.js';
