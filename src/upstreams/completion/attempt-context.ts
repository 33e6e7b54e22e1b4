import { fetch } from 'undici';
import type { UpstreamConfig } from '../../config/config.js';
import type { CallContext } from '../contract/call-context.js';
import type { UpstreamConnections } from '../transport/upstream-connections.js';
import type { AttemptEnd, AttemptObserver } from './attempt-observer.js';

/** Why the signal of an attempt aborts after a complete answer. */
const COMPLETE = new Error('The answer is complete.');
const STOPPED = new Error('The completion was stopped.');

/** The {@link CallContext} of one attempt. The signal exists only if the protocol asks for it: most protocols do not. */
export class AttemptContext implements CallContext, AttemptObserver {
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

  /** Aborts the signal. */
  onEnd(end: AttemptEnd): void {
    this.reason = reasonOf(end);
    this.aborter?.abort(this.reason);
  }
}

function reasonOf(end: AttemptEnd): Error {
  switch (end.type) {
    case 'complete':
      return COMPLETE;
    case 'stopped':
      return STOPPED;
    case 'failed':
      return end.failure;
  }
}
