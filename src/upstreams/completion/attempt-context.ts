import { fetch } from 'undici';
import type { UpstreamConfig } from '../../config/config.js';
import type { CallContext } from '../contract/call-context.js';
import type { UpstreamConnections } from '../transport/upstream-connections.js';

/** The {@link CallContext} of one attempt. The signal exists only if the protocol asks for it: most protocols do not. */
export class AttemptContext implements CallContext {
  private aborter: AbortController | undefined;
  private reason: Error | undefined;

  /** @param headers additional headers for the request of the protocol. */
  constructor(
    readonly requestId: string,
    readonly accountId: string,
    readonly headers: Readonly<Record<string, string>> | undefined,
    private readonly upstream: UpstreamConfig,
    private readonly connections: UpstreamConnections,
  ) {}

  get signal(): AbortSignal {
    if (this.aborter === undefined) {
      this.aborter = new AbortController();
      if (this.reason !== undefined) this.aborter.abort(this.reason);
    }
    return this.aborter.signal;
  }

  /** A function that needs no `this`, so that a protocol can take `{ fetch }` from its context. */
  get fetch(): CallContext['fetch'] {
    return (url, init = {}) => {
      const signal = init.signal == null ? this.signal : AbortSignal.any([this.signal, init.signal]);
      return fetch(url, { ...init, signal, dispatcher: this.connections.dispatcher(this.upstream) });
    };
  }

  /** Aborts the signal. Call this when the attempt is over. */
  end(reason: Error): void {
    this.reason ??= reason;
    this.aborter?.abort(reason);
  }
}
