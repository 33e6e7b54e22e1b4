import type { ServerResponse } from 'node:http';
import type { ErrorCode } from '../../common/service-error.js';

const codes = new WeakMap<ServerResponse, ErrorCode>();

/** Stores the error code of the answer. The request log reads the code when the request is over. */
export function noteAnsweredError(response: ServerResponse, code: ErrorCode): void {
  codes.set(response, code);
}

export function answeredErrorOf(response: ServerResponse): ErrorCode | undefined {
  return codes.get(response);
}
