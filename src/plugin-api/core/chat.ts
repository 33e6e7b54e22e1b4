// What plugins use of chat.
export { type Completion, completionOf } from '../../chat/answer-contents.js';
export { Caller, type ChatCaller } from '../../chat/chat-caller.js';
export { ChatModule } from '../../chat/chat.module.js';
export { ChatService } from '../../chat/chat.service.js';
export { DURABLE_HEADERS } from '../../chat/durable/api-durable-streams.decorator.js';
export { Durable, type DurableOptions } from '../../chat/durable/durable-request.js';
export { DurableStreams, STREAM_ID_HEADER } from '../../chat/durable/durable-streams.js';
export { StreamMemory } from '../../chat/durable/log/stream-memory.js';
export { schemaProblems } from '../../chat/request/conversation/schema-problems.js';
export { DEFAULT_TEMPERATURE } from '../../chat/request/requested-contents.js';
export { tokenDemand } from '../../chat/request/token-demand.js';
export { InterChunkLatencies } from '../../chat/stream/inter-chunk-latencies.js';
export { OpenStreams } from '../../chat/stream/open-streams.js';
export { EVENT_STREAM_TYPE, sseEvent, type StreamFormat } from '../../chat/stream/stream-format.js';
export { StreamSender } from '../../chat/stream/stream-sender.js';
