// The public API of the package, for custom applications that extend the service.
import 'reflect-metadata';

export { AppModule, type AppOptions, type AsyncAppOptions } from './app.module.js';
export { bootstrap } from './bootstrap/bootstrap.js';
export { createService } from './bootstrap/service.js';
export { ChatPlugin } from './plugins/chat-plugin.decorator.js';
export type { PluginDescription } from './plugins/plugin-description.js';
export { PLUGIN_CONFIG } from './plugins/plugin-configs.js';
export type { Plugin } from './plugins/plugin-set.js';
export type { Extension } from './common/extensions/extension-point.js';
export type { AdminCommand, AdminCommandType, AdminExtension, CommandLine } from './plugins/admin-command.js';
export { runAdmin, type AdminOptions } from './admin-commands/run-admin.js';

export { AccountsService } from './accounts/accounts/accounts.service.js';
export type { CreatedApiKey } from './accounts/api-keys/api-key-creation.js';
export { ApiKeysService } from './accounts/api-keys/api-keys.service.js';
export type { VerifiedSession } from './accounts/sessions/sessions.service.js';
export { CurrentPrincipal } from './auth/principal/current-principal.decorator.js';
export type { Credential, ExternalCredential, Principal } from './auth/principal/principal.js';
export { CurrentSession } from './auth/session/request-session.js';
export { SessionOnly } from './auth/session/session.guard.js';
export type { SecurityScheme, StrategyType } from './auth/strategies/all-strategies.js';
export { ChatRequest, ChatRequestMessage } from './chat/request/chat-request.dto.js';
export { Caller, type ChatCaller } from './chat/chat-caller.js';
export { ChatService, type Completion, type StreamOptions } from './chat/chat.service.js';
export type { CompletionHook, HookContext } from './chat/hooks/completion-hook.js';
export { ClientGone } from './http/request/client-gone.js';
export { RequestId } from './http/request/request-id.decorator.js';
export { ApiErrors } from './http/open-api/api-errors.decorator.js';
export { BodyValues } from './http/body/json/body-values.decorator.js';
export { Form } from './http/body/form/form.decorator.js';
export { OutsideApi } from './http/routing/outside-api.decorator.js';
export { Public } from './http/routing/public.decorator.js';
export { CLOCK, type Clock } from './common/clock.js';
export { Histogram } from './common/counts/histogram.js';
export { LabeledCounter } from './common/counts/labeled-counter.js';
export { defineError, type DefinedError, type ErrorDefinition } from './common/define-error.js';
export { ServiceError, type ErrorCode, type ErrorDetail, type ServiceErrorOptions } from './common/service-error.js';
export { CONFIG, type Config, type ModelConfig, type TierConfig, type UpstreamConfig } from './config/config.js';
export type { AsyncConfig } from './config/config.module.js';
export { ConfigError } from './config/config-error.js';
export { loadConfig } from './config/load-config.js';
export { ModelCatalog } from './models/model-catalog.js';
export type { ModelSource } from './models/model-source.js';
export type { ModelDefinition } from './config/model-of.js';
export { LimitedByTier, type TokenUse } from './throttling/limited-by-tier.decorator.js';
export { AdmissionLease } from './throttling/admission-lease.decorator.js';
export type { RequestLease } from './throttling/request-lease.js';
export {
  LimitStore,
  type Admission,
  type AdmissionRequest,
  type Lease,
  type LimitName,
  type LimitState,
  type Refusal,
  type TierLimits,
  type TokenDemand,
} from './throttling/limit-store.js';
export { TokensUsed } from './throttling/tokens/tokens-used.js';
export type { ChatCall, ChatMessage, Role } from './upstreams/contract/chat-call.js';
export type { CallContext } from './upstreams/contract/call-context.js';
export type { Decoder, Framing, FramingLimits, ProviderEvent } from './upstreams/contract/framing.js';
export type { OptionsSchema } from './upstreams/contract/options-schema.js';
export type {
  AnswerHeaders,
  AnswerReader,
  HttpProtocol,
  InProcessProtocol,
  Protocol,
  UpstreamRequest,
} from './upstreams/contract/protocol.js';
export {
  ProviderFailure,
  providerFailure,
  type FailureScope,
  type ProviderFailureCode,
  type ProviderFailureOptions,
} from './upstreams/contract/provider-failure.js';
export type { CallTrace } from './upstreams/completion/call-trace.js';
export { AnthropicProtocol } from './upstreams/protocols/anthropic/anthropic.js';
export { BuiltinProtocol } from './upstreams/protocols/builtin/builtin.js';
export { GeminiProtocol } from './upstreams/protocols/gemini/gemini.js';
export { OllamaProtocol } from './upstreams/protocols/ollama/ollama.js';
export { OpenAiProtocol } from './upstreams/protocols/openai/openai.js';
export { endpoint, streamHeaders } from './upstreams/protocols/shared/endpoint.js';
export { errorEventParts, unreadableEventParts } from './upstreams/protocols/shared/event-failure.js';
export { httpFailure } from './upstreams/protocols/shared/http-failure.js';
export { jsonBody } from './upstreams/protocols/shared/json-body.js';
export { isJsonObject, isText, parseJsonObject, type JsonObject } from './upstreams/protocols/shared/json-object.js';
export { RepeatedEvent } from './upstreams/protocols/shared/repeated-event.js';
export { reportedFailure } from './upstreams/protocols/shared/reported-failure.js';
export { retryAfterSeconds } from './upstreams/protocols/shared/retry-after.js';
export { tokenCount, tokenUsage } from './upstreams/protocols/shared/token-count.js';
export { ndjson } from './upstreams/transport/ndjson-decoder.js';
export { sse } from './upstreams/transport/sse-decoder.js';
export type { StreamOutcome } from './usage/record/stream-outcome.js';
export type { BegunStream, TokenCount, UsageRecord } from './usage/record/usage-record.js';
export { UnstorableData } from './usage/store/unstorable-data.js';
export { UsageReports, type UsageRow } from './usage/reports/usage-reports.js';
export type {
  HistogramFamilySource,
  MetricFamily,
  MetricSample,
  MetricsProvider,
  SampledFamily,
} from './observability/metrics/plugin-metrics.js';
export type { NavigationEntry } from './dashboard/layout/navigation.js';
export type { Page } from './dashboard/page.js';
export { h } from 'preact';
export { Strategy } from 'passport';
export type { Request, Response } from 'express';
export { PageController } from './dashboard/page-controller.decorator.js';
export { Pages } from './dashboard/pages.js';
export { Checkbox } from './dashboard/forms/checkbox.js';
export { Choice } from './dashboard/forms/choice.js';
export { Field } from './dashboard/forms/field.js';
export { problemsOf as formProblems, type FormProblems } from './dashboard/forms/field-problems.js';
export { Done, FormFailure } from './dashboard/forms/notice.js';
export type { UsageSink } from './usage/record/usage-sink.js';
export { newSecret, streamId, type RequestKey, type StreamAddress } from './chat/durable/identity/stream-identity.js';
export { CLAIM_RELEASED, StreamLog, type Ending } from './chat/durable/log/stream-log.js';
export { StreamMemory } from './chat/durable/log/stream-memory.js';
export {
  MOST_READERS,
  StreamStore,
  type Claim,
  type KeptStream,
  type OwnStream,
  type StoreCounts,
} from './chat/durable/store/stream-store.js';
export { UsageStore, type AbandonedBatch, type OpeningBatch, type SetAsideRecord } from './usage/store/usage-store.js';
export type {
  CompletionPart,
  FinishPart,
  FinishReason,
  ReasoningPart,
  StreamPart,
  TextPart,
  TokenUsage,
  UsagePart,
} from './upstreams/contract/stream-part.js';
