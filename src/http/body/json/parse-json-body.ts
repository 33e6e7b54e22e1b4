import { isAscii, isUtf8 } from 'node:buffer';
import { ownTurn } from '../../../common/event-loop/event-loop-turns.js';
import { jsonExcess, type JsonBounds, type JsonExcess } from '../../../common/json/json-bounds.js';
import { ServiceError } from '../../../common/service-error.js';
import { invalidRequest } from '../../request/invalid-request.js';

/** A body above this size is decoded, checked, parsed and handled in separate turns of the event loop. */
const LONG_BYTES = 128 * 1024;
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Parses a JSON body.
 *
 * @throws {ServiceError} `invalid_request` if the body exceeds a bound, or is not JSON in UTF-8.
 */
export async function parseJsonBody(bytes: Buffer, bounds: JsonBounds): Promise<unknown> {
  const isLong = bytes.length > LONG_BYTES;
  if (!isUtf8(bytes)) throw notJson();
  const decoded = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
  const text = decoded.startsWith(BYTE_ORDER_MARK) ? decoded.slice(1) : decoded;
  if (isLong) await ownTurn();
  const excess = jsonExcess(text, bounds);
  if (excess !== undefined) throw refusal(excess, bounds);
  if (isLong) await ownTurn();
  const value = parsed(text);
  if (isLong) await ownTurn();
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson();
  }
}

function notJson(): ServiceError {
  return new ServiceError('invalid_request', 'The body is not valid JSON in UTF-8.');
}

function refusal({ bound, path }: JsonExcess, bounds: JsonBounds): ServiceError {
  const max = bounds[bound];
  const message =
    bound === 'values'
      ? `has too many members or items: the body can have at most ${max} in total`
      : `is nested too deeply: the body can have at most ${max} levels`;
  return invalidRequest([{ field: path.length === 0 ? 'body' : path.join('.'), message }]);
}
