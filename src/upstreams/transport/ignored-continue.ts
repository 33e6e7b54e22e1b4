import type { Socket } from 'node:net';

/** Matches the beginning of a request, in the form in which undici writes it. */
const REQUEST = /^[A-Z]+ \//;
/** Matches a whole response `100 Continue`. */
const CONTINUE = /^HTTP\/1\.[01] 100(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n/;
const BEGINNINGS = ['HTTP/1.1 100', 'HTTP/1.0 100'];
const BEGINNING_LENGTH = Math.max(...BEGINNINGS.map(({ length }) => length));
/** The maximum number of bytes of all these responses together. */
const MAX_BYTES = 16 * 1024;

/**
 * Takes each `100 Continue` before a response out of the bytes of a connection. Some providers send it although the request has not asked
 * for it, and RFC 9110 (section 15.2) allows that. undici up to 8.13 closes the connection then; it reads the other interim responses.
 */
export function ignoreContinue(socket: Socket): void {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...written: unknown[]) => boolean;
  let isBeforeResponse = false;
  let held = '';
  let ignoredBytes = 0;

  socket.write = (...written: unknown[]): boolean => {
    const [piece] = written;
    if (typeof piece === 'string' && REQUEST.test(piece)) {
      isBeforeResponse = true;
      ignoredBytes = 0;
    }
    return write(...written);
  };
  socket.read = (size?: number): unknown => {
    const piece = read(size) as Buffer | null;
    if (!isBeforeResponse || piece === null) return piece;
    if (held === '' && !mayBeContinue(piece.toString('latin1', 0, BEGINNING_LENGTH))) {
      isBeforeResponse = false;
      return piece;
    }
    held += piece.toString('latin1');
    for (let found = CONTINUE.exec(held); found !== null && ignoredBytes < MAX_BYTES; found = CONTINUE.exec(held)) {
      ignoredBytes += found[0].length;
      held = held.slice(found[0].length);
    }
    if (mayBeContinue(held) && ignoredBytes + held.length < MAX_BYTES) return null;
    isBeforeResponse = false;
    const rest = Buffer.from(held, 'latin1');
    held = '';
    return rest;
  };
}

/** Whether the bytes are empty, or the beginning of `100 Continue`. */
function mayBeContinue(bytes: string): boolean {
  return BEGINNINGS.some((beginning) =>
    bytes.length < beginning.length ? beginning.startsWith(bytes) : bytes.startsWith(beginning),
  );
}
