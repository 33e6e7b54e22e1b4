import type { OpenAPIObject } from '@nestjs/swagger';
import { REQUEST_ID } from './api-decorators.js';
import { operationsOf } from './defined-errors.js';
import { errorResponse } from './error-response.js';

/** Adds what every operation has: the request id of each response, and the response to a bug. */
export function describeResponses(document: OpenAPIObject): void {
  for (const { responses } of operationsOf(document)) {
    responses['500'] ??= errorResponse(500, ['`internal_error`']);
    for (const response of Object.values(responses)) {
      if (response !== undefined && 'description' in response) {
        response.headers = { ...REQUEST_ID, ...response.headers };
      }
    }
  }
}

/** Closes the request for unknown members, and gives "Try it out" a request that works with the models of this service. */
export function describeChatRequest(document: OpenAPIObject, model = 'vendor/model'): void {
  const { ChatRequest, ChatRequestMessage } = document.components?.schemas ?? {};
  if (ChatRequest === undefined || ChatRequestMessage === undefined) return;
  const example = { model, messages: [{ role: 'user', content: 'Hello!' }] };
  Object.assign(ChatRequest, { additionalProperties: false, example });
  Object.assign(ChatRequestMessage, { additionalProperties: false });
}
