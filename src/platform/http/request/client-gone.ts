import type { ServerResponse } from 'node:http';

declare module './request-context.js' {
  interface RequestContext {
    /** See {@link clientGone}. */
    clientGone?: AbortSignal;
  }
}

/** Returns a signal that aborts when the client leaves before the whole response was sent. */
export function clientGone(response: ServerResponse): AbortSignal {
  const { context } = response.req;
  return (context.clientGone ??= watch(response));
}

function watch(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const closed = (): void => {
    if (!response.writableFinished) gone.abort();
  };
  if (response.closed) closed();
  else response.once('close', closed);
  return gone.signal;
}
