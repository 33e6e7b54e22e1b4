import type { IncomingMessage, ServerResponse } from 'node:http';

/** A rest up to this size is read at once, so that the connection can serve the next request. */
const SMALL_BYTES = 64 * 1024;
/** How long a client may go on sending after the answer, so that it can finish and read the answer. */
const LONGEST_MS = 2_000;
/** How long it may be silent meanwhile. */
const SILENCE_MS = 1_000;
/** Between two pieces, of some 64 KiB, that are read and dropped. Reading all of it fast would cost as much as taking it in. */
const PIECE_EVERY_MS = 100;

/**
 * Prepares the response to a request whose body has not been read to its end. To be called before the response is sent.
 *
 * After a long rest the connection is closed: the client is told with `Connection: close`, and the sending side is closed with
 * the response. For two seconds the rest is still read, slowly, and dropped. Node would cut the connection at once, and a
 * client that is still sending would lose the answer.
 */
export function dropRestOfBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || !hasBody(request)) return;
  const { socket } = request;
  const limit = setTimeout(() => socket.destroy(), LONGEST_MS);
  const stop = (): void => {
    clearTimeout(limit);
  };
  request.once('end', stop).once('close', stop);
  if (Number(request.headers['content-length'] ?? Infinity) <= SMALL_BYTES) {
    request.resume();
    return;
  }

  dropSlowly(request);
  response.setHeader('Connection', 'close');
  const close = socket.destroySoon.bind(socket);
  // Node calls this when the response has been written.
  socket.destroySoon = () => {
    if (request.complete) {
      close();
      return;
    }
    socket.end();
    socket.setTimeout(SILENCE_MS, () => socket.destroy());
    request.once('end', close);
  };
}

function dropSlowly(request: IncomingMessage): void {
  request.on('data', () => {
    request.pause();
    setTimeout(() => request.resume(), PIECE_EVERY_MS);
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
