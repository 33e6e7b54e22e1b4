import { ERRORS, isDefinedCode, ServiceError, type ErrorCode } from '../../../../common/service-error.js';
import { CLAIM_RELEASED, type Ending, type StreamLog } from '../../log/stream-log.js';
import type { StreamCipher } from './stream-cipher.js';

/** One entry of the text of a stream, by field. See {@link writtenEntry}. */
export type EntryFields = ReadonlyMap<string, Buffer>;

const INTERRUPTED: Ending = {
  kind: 'failed',
  code: 'interrupted',
  message: 'The process that generated this stream has stopped unexpectedly. The text up to here is kept.',
};
const ENDING = 'ending';
const FAILURE = 'failure';

/**
 * Returns the fields and values of an entry: `o` the offset of the text, `t` the sealed text, `e` the sealed ending. A script
 * adds `r` for an abandoned stream and `x` for a stream whose owner is dead.
 */
export function writtenEntry(
  cipher: StreamCipher,
  offset: number,
  text: string,
  ending: Ending | undefined,
): (string | Buffer)[] {
  const fields: (string | Buffer)[] = ['o', String(offset), 't', cipher.sealText(text, textLabel(offset))];
  if (ending !== undefined) fields.push('e', cipher.seal(Buffer.from(JSON.stringify(ending)), ENDING));
  return fields;
}

/** Returns the value of `r` for an abandoned stream. */
export function sealedFailure(cipher: StreamCipher, reason: Error): Buffer | '' {
  if (!(reason instanceof ServiceError)) return '';
  const { code, message, status, retryAfterSeconds, details } = reason;
  return cipher.seal(Buffer.from(JSON.stringify({ code, message, status, retryAfterSeconds, details })), FAILURE);
}

/** Applies an entry to the log that follows the stream. Text that the log has already is skipped. */
export function applyEntry(fields: EntryFields, cipher: StreamCipher, log: StreamLog): void {
  const released = fields.get('r');
  if (released !== undefined) {
    log.abandon(failureOf(cipher, released));
    return;
  }
  log.begin();
  if (fields.has('x')) {
    log.end(INTERRUPTED);
    return;
  }
  const offset = Number(fields.get('o'));
  const text = cipher.openText(fields.get('t') ?? Buffer.of(), textLabel(offset));
  if (text === undefined || offset > log.length) {
    log.end(INTERRUPTED);
    return;
  }
  try {
    log.append(text.slice(log.length - offset));
  } catch (error) {
    const { code, message } = error as ServiceError;
    log.end({ kind: 'failed', code, message });
    return;
  }
  const sealedEnding = fields.get('e');
  if (sealedEnding !== undefined) log.end(endingOf(cipher, sealedEnding));
}

/** Ends a log whose stream Redis has lost. */
export function endLost(log: StreamLog): void {
  log.abandon(CLAIM_RELEASED);
  log.end(INTERRUPTED);
}

function textLabel(offset: number): string {
  return `text ${offset}`;
}

function endingOf(cipher: StreamCipher, sealed: Buffer): Ending {
  const json = cipher.open(sealed, ENDING);
  return json === undefined ? INTERRUPTED : (JSON.parse(json.toString()) as Ending);
}

function failureOf(cipher: StreamCipher, sealed: Buffer): Error {
  const json = cipher.open(sealed, FAILURE);
  if (json === undefined) return CLAIM_RELEASED;
  const { code, message, ...options } = JSON.parse(json.toString()) as { code: string; message: string };
  // A replica of a later version may know more codes.
  return Object.hasOwn(ERRORS, code) || isDefinedCode(code as ErrorCode)
    ? new ServiceError(code as ErrorCode, message, options)
    : CLAIM_RELEASED;
}
