import { keepSources } from '../../../common/json/json-source.js';
import { isAscii, isUtf8 } from 'node:buffer';
import { ownTurn, Steps } from '../../../common/event-loop/event-loop-turns.js';
import { jsonExcess, type JsonBounds, type JsonExcess } from '../../../common/json/json-bounds.js';
import { ServiceError } from '../../../common/service-error.js';
import { JsonExcessError, parseLongJson } from './parse-long-json.js';
import { invalidRequest } from '../../request/request-validation.pipe.js';

/** A body above this size is decoded, checked, parsed and handled in separate turns of the event loop. */
const LONG_BYTES = 128 * 1024;
/** A body above this size is parsed in steps. */
const VERY_LONG_BYTES = 4 * 1024 * 1024;
/** The bytes to check before the next look at the clock. */
const STEP_BYTES = 1024 * 1024;
const MAX_CHARACTER_BYTES = 4;
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Parses a JSON body.
 *
 * @throws {ServiceError} `invalid_request` if the body exceeds a bound, or is not JSON in UTF-8.
 */
export async function parseJsonBody(bytes: Buffer, bounds: JsonBounds): Promise<unknown> {
  if (bytes.length > VERY_LONG_BYTES) return parsedInSteps(bytes, bounds);
  const isLong = bytes.length > LONG_BYTES;
  if (!isUtf8(bytes)) throw notJson();
  const decoded = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
  const text = decoded.startsWith(BYTE_ORDER_MARK) ? decoded.slice(1) : decoded;
  if (isLong) await ownTurn();
  const excess = jsonExcess(text, bounds);
  if (excess !== undefined) throw refusal(excess, bounds);
  if (isLong) await ownTurn();
  const value = parsed(text);
  keepSources(text, value);
  if (isLong) await ownTurn();
  return value;
}

async function parsedInSteps(sent: Buffer, bounds: JsonBounds): Promise<unknown> {
  const mark = Buffer.from(BYTE_ORDER_MARK);
  await ownTurn();
  if (!(await isUtf8InSteps(sent))) throw notJson();
  try {
    return await parseLongJson(sent.subarray(0, mark.length).equals(mark) ? sent.subarray(mark.length) : sent, bounds);
  } catch (error) {
    throw error instanceof JsonExcessError ? refusal({ bound: error.bound, path: [] }, bounds) : notJson();
  }
}

/** Each step ends before a byte that begins a character. */
async function isUtf8InSteps(bytes: Buffer): Promise<boolean> {
  const steps = new Steps();
  for (let from = 0; from < bytes.length;) {
    let to = Math.min(from + STEP_BYTES, bytes.length);
    for (let at = to; at > to - MAX_CHARACTER_BYTES && at > from; at -= 1) {
      if (((bytes[at] ?? 0) & 0xc0) === 0x80) continue;
      to = at;
      break;
    }
    if (!isUtf8(bytes.subarray(from, to))) return false;
    from = to;
    if (steps.isOver) await steps.next();
  }
  return true;
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
