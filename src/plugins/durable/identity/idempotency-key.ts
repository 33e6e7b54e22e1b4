import { invalidRequest } from '../../../plugin-api/core/http.js';

export const IDEMPOTENCY_KEY_HEADER = 'idempotency-key';
const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/**
 * Checks the value of `Idempotency-Key`. Node joins several headers with a comma and a space, which is not valid either.
 *
 * @throws {ServiceError} `invalid_request`.
 */
export function checkedIdempotencyKey(sent: string | string[]): string {
  if (typeof sent === 'string' && VISIBLE_ASCII.test(sent)) return sent;
  throw invalidRequest([{ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }]);
}
