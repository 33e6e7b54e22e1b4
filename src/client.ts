export { ChatClient, type ChatClientOptions } from './client/chat-client.js';
export { ChatError, type ChatFailure, type ErrorCode, type ErrorDetail } from './client/chat-error.js';
export type { ConnectionEvent } from './client/connection-events.js';
export type { ChatStream, StreamOptions, StreamState } from './client/chat-stream.js';
export type {
  ChatMessage,
  ChatRequest,
  CompleteAnswer,
  Model,
  RateLimit,
  RateLimits,
  Receipt,
} from './client/chat-types.js';
