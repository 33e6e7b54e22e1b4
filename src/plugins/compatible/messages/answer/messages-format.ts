import type { ServiceError } from '../../../../plugin-api/core/common.js';
import { type Completion, EVENT_STREAM_TYPE, sseEvent, type StreamFormat } from '../../../../plugin-api/core/chat.js';
import {
  type CompletionPart,
  type FinishPart,
  promptTokensNow,
  type TokenUsage,
} from '../../../../plugin-api/core/upstreams.js';
import type { AnswerFacts, AnswerFormat } from '../../shared/compatible-answers.js';
import { anthropicError } from '../../shared/error-formats.js';
import { placedField } from '../../shared/body-fields.js';
import { MESSAGES_NAMES } from '../body/body-names.js';
import { AnswerBlocks } from './answer-blocks.js';
import type { MessagesRequest } from '../body/messages-request.js';
import { endUsage, messageContent, messageEnd, messageStart, messageUsage } from './message-json.js';

const PING = sseEvent({ type: 'ping' }, 'ping');

/** Writes the answer to a request in the format of Messages. */
export function messagesFormat(request: MessagesRequest, requestId: string): AnswerFormat {
  return {
    bodyField: (field) => placedField(field, request.mapped, MESSAGES_NAMES),
    stream: (facts) => new MessagesEvents(facts, request, requestId),
    whole: (completion, facts) => wholeMessage(completion, facts, request),
  };
}

function wholeMessage(completion: Completion, facts: AnswerFacts, { thinking, conversation }: MessagesRequest): object {
  const { finishReason: reason, rawFinishReason: raw, toolCalls } = completion;
  return {
    ...messageStart(facts.id, facts.model, messageUsage(facts.usage())),
    content: messageContent(completion, thinking),
    ...messageEnd({ reason, raw, hasToolCalls: toolCalls.length > 0 }, conversation.stop),
  };
}

/** Writes an answer as events. An object is for one response. */
class MessagesEvents implements StreamFormat {
  readonly contentType = EVENT_STREAM_TYPE;
  private readonly blocks: AnswerBlocks;
  private usage: TokenUsage = {};
  private finish: FinishPart | undefined;
  private hasToolCalls = false;
  private isStarted = false;

  constructor(
    private readonly facts: AnswerFacts,
    private readonly request: MessagesRequest,
    private readonly requestId: string,
  ) {
    this.blocks = new AnswerBlocks(request.thinking);
  }

  part(part: CompletionPart): string | undefined {
    if (part.type === 'usage') this.usage = { ...this.usage, ...part.usage };
    if (part.type === 'finish') this.finish = part;
    if (part.type === 'tool_call_start') this.hasToolCalls = true;
    const events = this.blocks.add(part);
    return events.length === 0 ? undefined : this.start() + eventsText(events);
  }

  keepAlive(): string {
    return PING;
  }

  end(): string {
    const { reason = 'other', raw } = this.finish ?? {};
    const end = {
      type: 'message_delta',
      delta: messageEnd({ reason, raw, hasToolCalls: this.hasToolCalls }, this.request.conversation.stop),
      usage: endUsage(this.facts.usage()),
    };
    return this.start() + eventsText([...this.blocks.end(), end, { type: 'message_stop' }]);
  }

  error(error: ServiceError): string {
    return sseEvent(anthropicError(error, this.requestId), 'error');
  }

  /** Returns the first event, once. */
  private start(): string {
    if (this.isStarted) return '';
    this.isStarted = true;
    const { id, model } = this.facts;
    // The first event needs a count. Most providers report it at the end.
    const inputTokens = this.usage.inputTokens ?? promptTokensNow(this.request.conversation).estimated;
    const usage = messageUsage({ ...this.usage, inputTokens, outputTokens: 0 });
    return sseEvent({ type: 'message_start', message: messageStart(id, model, usage) }, 'message_start');
  }
}

/** The name of an event is also the type of its data. */
function eventsText(events: readonly { readonly type: string }[]): string {
  return events.map((event) => sseEvent(event, event.type)).join('');
}
