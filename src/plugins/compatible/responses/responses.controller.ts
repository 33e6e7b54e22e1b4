import { Body, Controller, Res } from '@nestjs/common';
import type { Response } from 'express';
import {
  type Completion,
  EVENT_STREAM_TYPE,
  sseEvent,
  type StreamFormat,
  Caller,
  type ChatCaller,
} from '../../../plugin-api/core/chat.js';
import { ApiBearerAuth, ApiTags, Surface } from '../../../plugin-api/core/http.js';
import type { CompletionPart } from '../../../plugin-api/core/upstreams.js';
import { ApiAnswer, AnswersConversation, compatibleSurface } from '../shared/surface-options.js';
import { type AnswerFacts, type AnswerFormat, CompatibleAnswers } from '../shared/compatible-answers.js';
import { openAiErrorBody } from '../shared/error-formats.js';
import { bodyField, type ResponsesRequest, RESPONSES_BODY } from './request/responses-request.js';
import { ResponseWriter, type ResponseEvent } from './response/response-writer.js';

/** Open Responses requires it as the end of a stream. A stream that has failed ends with `response.failed`. */
const LAST = 'data: [DONE]\n\n';

/** Writes answers in the format of Open Responses. */
function responsesFormat(request: ResponsesRequest): AnswerFormat {
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

/** `POST /responses`: the interface of Open Responses, for clients that were written for it. Nothing is stored. */
@ApiTags('Compatible interfaces')
@ApiBearerAuth()
@Surface({ ...compatibleSurface('responses'), answersUnknownPaths: true, errorBody: openAiErrorBody })
@Controller('responses')
export class ResponsesController {
  constructor(private readonly answers: CompatibleAnswers) {}

  @AnswersConversation(RESPONSES_BODY)
  @ApiAnswer({
    operationId: 'createResponse',
    summary: 'Answers a conversation in the format of Open Responses',
    description:
      'The body and the answer have the format of Open Responses, version 2026-04-24. The service stores no responses: send ' +
      'all items of the conversation. Parameters without an effect are named in `X-Ignored-Parameters`.',
    answer: 'A response, or with `"stream": true` a stream of events.',
  })
  async create(
    @Body() request: ResponsesRequest,
    @Caller() caller: ChatCaller,
    @Res() response: Response,
  ): Promise<void> {
    await this.answers.answer(request, caller, response, responsesFormat(request));
  }
}
