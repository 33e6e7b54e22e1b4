import type { ServerResponse } from 'node:http';

declare module './request-context.js' {
  interface RequestContext {
    /** See {@link clientGone}. */
    clientGone?: AbortSignal;
  }
}

/** Returns a signal that aborts when the client leaves before the whole response was sent. Call it before the response is sent. */
export function clientGone(response: ServerResponse): AbortSignal {
  const { context } = response.req;
  return (context.clientGone ??= watch(response));
}

/** Whether nobody gets a response any more. A response is closed a moment after its socket. */
export function isClosed(response: ServerResponse): boolean {
  return response.closed || response.req.socket.destroyed;
}

/** Nest ends the response of a stream whose client has left, so that it looks as if it was sent: the connection shows that it was not. */
function watch(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const { socket } = response.req;
  let isSent = false;
  if (isClosed(response)) gone.abort();
  else {
    response
      .once('finish', () => (isSent = !socket.destroyed))
      .once('close', () => {
        if (!isSent) gone.abort();
      });
  }
  return gone.signal;
}
