import type { IncomingMessage, ServerResponse } from 'node:http';
import { realMs, startTimer } from '../../common/timers/pace.js';

/** A rest up to this size is read at full speed, so that the connection can serve the next request. */
const SMALL_BYTES = 64 * 1024;
/** How long a client may continue to send after the response, so that it can finish and read the response. */
const MAX_SEND_MS = 2_000;
/** How long the client may be silent during this time. */
const IDLE_TIMEOUT_MS = 1_000;
/**
 * The delay between two pieces, of about 64 KiB each, that are read and discarded. Fast reading would cost as much as
 * receiving the body.
 */
const PIECE_EVERY_MS = 100;

/**
 * Prepares the response to a request whose body has not been read completely. Must be called before the response is sent.
 *
 * If the rest of the body is long, the connection is closed. `Connection: close` informs the client, and the sending side
 * closes with the response. For two seconds, the rest is still read slowly and discarded. Node would close the connection
 * at once, and a client that is still sending would lose the response.
 */
export function dropRestOfBody(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  if (request.complete || socket.destroyed || !hasBody(request)) return;
  const limit = startTimer(() => socket.destroy(), MAX_SEND_MS);
  const stop = (): void => {
    clearTimeout(limit);
    socket.off('close', stop);
  };
  request.once('end', stop).once('close', stop);
  // After the response, a request does not report that its connection is closed.
  socket.once('close', stop);
  if (Number(request.headers['content-length'] ?? Infinity) <= SMALL_BYTES) {
    request.resume();
    return;
  }

  dropSlowly(request);
  response.setHeader('Connection', 'close');
  const close = socket.destroySoon.bind(socket);
  // Node calls this method after it has written the response.
  socket.destroySoon = () => {
    if (request.complete) {
      close();
      return;
    }
    socket.end();
    socket.setTimeout(realMs(IDLE_TIMEOUT_MS), () => socket.destroy());
    request.once('end', close);
  };
}

function dropSlowly(request: IncomingMessage): void {
  request.on('data', () => {
    request.pause();
    startTimer(() => request.resume(), PIECE_EVERY_MS);
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
