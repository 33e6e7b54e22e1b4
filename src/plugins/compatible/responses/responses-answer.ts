import { type Completion, EVENT_STREAM_TYPE, sseEvent, type StreamFormat } from '../../../plugin-api/core/chat.js';
import type { CompletionPart } from '../../../plugin-api/core/upstreams.js';
import type { AnswerFacts, AnswerFormat } from '../shared/compatible-answers.js';
import { bodyField } from './request/body-fields.js';
import type { ResponsesRequest } from './request/responses-request.js';
import { ResponseWriter, type ResponseEvent } from './response/response-writer.js';

/** Open Responses requires it as the end of a stream. A stream that has failed ends with `response.failed`. */
const LAST = 'data: [DONE]\n\n';

/** Writes answers in the format of Open Responses. */
export function responsesFormat(request: ResponsesRequest): AnswerFormat {
  const { settings, reasoningForm, origins } = request;
  const writerOf = (facts: AnswerFacts) => new ResponseWriter(facts, settings, reasoningForm, origins);
  return {
    bodyField: (field) => bodyField(field, request),
    stream: (facts) => streamFormat(writerOf(facts)),
    whole(completion, facts) {
      const writer = writerOf(facts);
      for (const part of partsOf(completion)) writer.add(part);
      writer.end();
      return writer.whole();
    },
  };
}

function streamFormat(writer: ResponseWriter): StreamFormat {
  return {
    contentType: EVENT_STREAM_TYPE,
    part: (part) => textOf(writer.add(part)) || undefined,
    keepAlive: () => ': keep-alive\n\n',
    end: () => textOf(writer.end()) + LAST,
    error: (error) => textOf(writer.fail(error)),
  };
}

function textOf(events: readonly ResponseEvent[]): string {
  return events.map((event) => sseEvent(event, event.type)).join('');
}

/** Yields the parts of a complete answer, so that a whole response has the items of a streamed response. */
function* partsOf({ content, finishReason }: Completion): Generator<CompletionPart, void> {
  for (const [index, part] of content.entries()) {
    if (part.type !== 'tool_call') {
      yield part;
      continue;
    }
    const { id, name, json, signature } = part;
    yield { type: 'tool_call_start', id, name, index, signature };
    yield { type: 'tool_call_delta', id, json };
    yield { type: 'tool_call_end', id };
  }
  yield { type: 'finish', reason: finishReason, raw: finishReason };
}
