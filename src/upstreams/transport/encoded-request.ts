import { Steps, ownTurn } from '../../platform/common/event-loop/event-loop-turns.js';
import { textPieces } from '../../platform/common/text/cut-text.js';
import type { UpstreamRequest } from '../contract/protocol.js';

/** A longer body is made and sent in separate turns of the event loop. In UTF-16 units. */
const LONG_BODY = 128 * 1024;
/** The part of a body that is encoded before the next look at the clock. */
const STEP_LENGTH = 256 * 1024;

/** A request whose body is encoded, if it is long. */
export interface EncodedRequest extends UpstreamRequest {
  /** The body in UTF-8. `body` is then made of it each time. */
  readonly pieces?: readonly Buffer[] | undefined;
}

type Target = Omit<UpstreamRequest, 'body'>;

/** Returns a request with an encoded body. */
export function encodedRequest(target: Target, pieces: readonly Buffer[]): EncodedRequest {
  return {
    ...target,
    pieces,
    get body() {
      return Buffer.concat(pieces).toString();
    },
  };
}

/** Returns the request with more headers, which replace others. */
export function withHeaders(request: EncodedRequest, more: UpstreamRequest['headers']): EncodedRequest {
  const { method, url, pieces } = request;
  const target = { ...(method !== undefined && { method }), url, headers: { ...request.headers, ...more } };
  return pieces === undefined ? { ...target, body: request.body } : encodedRequest(target, pieces);
}

/** Whether the body is long, and not encoded yet. */
export function hasLongBody(request: EncodedRequest): boolean {
  return request.pieces === undefined && request.body.length > LONG_BODY;
}

/** Encodes a long body, in steps. */
export async function encodeLong(pending: EncodedRequest | Promise<EncodedRequest>): Promise<EncodedRequest> {
  const request = await pending;
  if (!hasLongBody(request)) return request;
  await ownTurn();
  const { body, ...target } = request;
  const steps = new Steps();
  const pieces: Buffer[] = [];
  for (const piece of textPieces(body, STEP_LENGTH)) {
    pieces.push(Buffer.from(piece));
    if (steps.isOver) await steps.next();
  }
  return encodedRequest(target, pieces);
}
