// What plugins use of chat.
export { type Completion, completionOf } from '../../chat/answer-contents.js';
export { Caller, type ChatCaller } from '../../chat/chat-caller.js';
export { ChatModule } from '../../chat/chat.module.js';
export { ChatService } from '../../chat/chat.service.js';
export {
  ApiLastEventId,
  DURABLE,
  Durable,
  DURABLE_HEADERS,
  type DurableAnswer,
  type DurableFacts,
  type DurableOptions,
  type DurableRequest,
  type OpenDetached,
  STREAM_ID_HEADER,
} from '../../chat/durable-request.js';
export { TOOL_NAME } from '../../chat/request/conversation/message-schema.js';
export { schemaProblems } from '../../chat/request/conversation/schema-problems.js';
export { DEFAULT_TEMPERATURE } from '../../chat/request/requested-contents.js';
export { tokenDemand } from '../../chat/request/token-demand.js';
export { type InterChunkClock, InterChunkLatencies } from '../../chat/stream/inter-chunk-latencies.js';
export { type EndStream, OpenStreams, shuttingDown } from '../../chat/stream/open-streams.js';
export { EVENT_STREAM_TYPE, sseEvent, type StreamFormat } from '../../chat/stream/stream-format.js';
export { StreamSender } from '../../chat/stream/stream-sender.js';
export type { ChatRequest } from '../../chat/request/chat-request.dto.js';
export { sendChunks } from '../../chat/stream/chunk-events.js';
export { EVENT_STREAM } from '../../chat/stream/chunk.dto.js';
export { MAX_WAIT_MS } from '../../chat/stream/deferred-headers.js';
export { EndUnknown } from '../../chat/stream/part-pump.js';
export { SseSink } from '../../chat/stream/sse-sink.js';
