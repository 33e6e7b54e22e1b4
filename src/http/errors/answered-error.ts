import type { ServerResponse } from 'node:http';
import type { ErrorCode } from '../../common/service-error.js';

const codes = new WeakMap<ServerResponse, ErrorCode>();

/** Keeps with which error a request was answered, for whoever tells of it when it is over. */
export function noteAnsweredError(response: ServerResponse, code: ErrorCode): void {
  codes.set(response, code);
}

export function answeredErrorOf(response: ServerResponse): ErrorCode | undefined {
  return codes.get(response);
}
