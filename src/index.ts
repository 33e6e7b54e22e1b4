// The public API of the package, for custom applications that extend the service. A test counts the exports.
import 'reflect-metadata';

export { AppModule } from './app.module.js';
export { bootstrap } from './bootstrap/bootstrap.js';
export { runAdmin } from './admin-commands/run-admin.js';
export { CONFIG, type Config, type UpstreamConfig } from './config/config.js';
export { loadConfig } from './config/load-config.js';
export { CLOCK } from './common/clock.js';

export { ChatPlugin } from './plugins/chat-plugin.decorator.js';
export { PluginRedis } from './plugins/plugin-redis.js';
export { PLUGIN_CONFIG } from './plugins/plugin-configs.js';
export type { AdminCommand } from './plugins/admin-command.js';
export { defineError } from './common/define-error.js';
export { ServiceError } from './common/service-error.js';

export type { Account } from './accounts/account/account.entity.js';
export { AccountsService } from './accounts/accounts/accounts.service.js';
export { ApiKeysService } from './accounts/api-keys/api-keys.service.js';
export type { AuditEntry } from './accounts/audit/audit-log.js';
export type { AuditSink } from './accounts/audit/audit-sink.js';
export { isFromTrustedProxy } from './auth/same-origin/public-origin.js';
export { CurrentPrincipal } from './auth/principal/current-principal.decorator.js';
export type { Principal } from './auth/principal/principal.js';
export { SessionOnly } from './auth/session/session.guard.js';
export type { SecurityScheme } from './auth/strategies/all-strategies.js';

export { ChatRequest } from './chat/request/chat-request.dto.js';
export { Caller, type ChatCaller } from './chat/chat-caller.js';
export { ChatService } from './chat/chat.service.js';
export { sseEvent, type StreamFormat } from './chat/stream/stream-format.js';
export { StreamSender } from './chat/stream/stream-sender.js';
export type { CompletionHook } from './chat/hooks/completion-hook.js';

export { ApiErrors } from './http/open-api/api-errors.decorator.js';
export { Form } from './http/body/form/form.decorator.js';
export { OutsideApi } from './http/surface/outside-api.decorator.js';
export { Surface } from './http/surface/surface.decorator.js';
export { Public } from './http/routing/public.decorator.js';

export { LimitedByTier } from './throttling/limited-by-tier.decorator.js';
export { OpensStream } from './throttling/process-load/opens-stream.decorator.js';
export type { AccountLimits, LimitedCall } from './throttling/account-limits.js';
export { LimitStore, type Admission, type AdmissionRequest, type Limit } from './throttling/limit-store.js';
export { TokensUsed } from './throttling/tokens/tokens-used.js';

export { ModelCatalog } from './models/model-catalog.js';
export type { ModelSource } from './models/model-source.js';
export type { ModelDefinition } from './config/model-of.js';

export type { CallContext } from './upstreams/contract/call-context.js';
export type { ChatCall } from './upstreams/contract/chat-call.js';
export type { ConversationRequest } from './upstreams/contract/conversation.js';
export type { ProviderEvent } from './upstreams/contract/framing.js';
export type { AnswerReader, HttpProtocol, InProcessProtocol, UpstreamRequest } from './upstreams/contract/protocol.js';
export { providerFailure, type ProviderFailure } from './upstreams/contract/provider-failure.js';
export type { CompletionPart, StreamPart } from './upstreams/contract/stream-part.js';
export { OpenAiProtocol } from './upstreams/protocols/openai/openai.js';
export { endpoint, streamHeaders } from './upstreams/protocols/shared/endpoint.js';
export { errorEventParts, unreadableEventParts } from './upstreams/protocols/shared/event-parts.js';
export { isText, parseJsonObject, type JsonObject } from './upstreams/protocols/shared/json-object.js';
export { optionMembers } from './upstreams/protocols/shared/option-members.js';
export { tokenCount, tokenUsage } from './upstreams/protocols/shared/token-count.js';
export { ndjson } from './upstreams/transport/ndjson-decoder.js';

export type { UsageFeed } from './usage/feeds/usage-feed.js';
export type { LedgerRow } from './usage/store/record-columns.js';
export type { UsageRecord } from './usage/record/usage-record.js';
export type { UsageSink } from './usage/record/usage-sink.js';
export { UnstorableData } from './usage/store/unstorable-data.js';
export { UsageStore } from './usage/store/usage-store.js';
export { UsageReports } from './usage/reports/usage-reports.js';

export type { ReadinessCheck } from './health/readiness-check.js';
export { Histogram } from './common/counts/histogram.js';
export type { MetricFamily, MetricsProvider } from './observability/metrics/plugin-metrics.js';

export type { FormProblems } from './dashboard/forms/form-problems.js';
export { OperatorOnly } from './dashboard/operator/operator-only.decorator.js';
export { PageForm } from './dashboard/forms/page-form.js';
export type { Page } from './dashboard/page.js';
export { PageController } from './dashboard/page-controller.decorator.js';
export { Pages } from './dashboard/pages.js';
