import type { OpenAPIObject } from '@nestjs/swagger';
import { REQUEST_ID } from './api-headers.js';
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
