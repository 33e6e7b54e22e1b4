// What plugins use of upstreams.
export type { AttemptSpan, AttemptTracer } from '../../upstreams/completion/attempt.js';
export type { AttemptTrace, CallTrace } from '../../upstreams/completion/call-trace.js';
export { CLIENT_GONE, nextPart, type PartReader } from '../../upstreams/completion/part-stream.js';
export type { ChatCall } from '../../upstreams/contract/protocol.js';
export type {
  AssistantMessage,
  CacheHint,
  ConversationRequest,
  ImageContent,
  Message,
  ReasoningContent,
  ReasoningOptions,
  ResponseFormat,
  TextContent,
  Tool,
  ToolChoice,
  ToolResult,
  UserMessage,
} from '../../upstreams/contract/conversation.js';
export { causeText, type FailureCause, failureText } from '../../upstreams/contract/provider-failure.js';
export type {
  CompletionPart,
  FinishPart,
  FinishReason,
  ReasoningPart,
  TextPart,
  TokenUsage,
  ToolCallStartPart,
} from '../../upstreams/contract/stream-part.js';
export { isPromptTooLong } from '../../upstreams/protocols/shared/reported-failure.js';
export { argumentsObject } from '../../upstreams/protocols/shared/tool-calls.js';
export { AttemptFactory } from '../../upstreams/routing/attempt-factory.js';
export type { BreakerState } from '../../upstreams/routing/circuit-breaker.js';
export type { LastError, RouteState } from '../../upstreams/routing/route-state.js';
export { type ProbeResult, RouteProbe } from '../../upstreams/routing/route-probe.js';
export { RouteStates } from '../../upstreams/routing/route-states.js';
export { promptTokens, promptTokensNow } from '../../upstreams/tokens/prompt-tokens.js';
export { imagesOf, textsOf } from '../../upstreams/contract/conversation.js';
