import { fetch } from 'undici';
import type { UpstreamConfig } from '../../platform/config/config.js';
import { timeoutSignal } from '../../platform/common/timers/pace.js';
import type { CallContext, CleanUp } from '../contract/protocol.js';
import type { UpstreamConnections } from '../transport/upstream-connections.js';
import type { AttemptEnd, AttemptObserver } from './attempt.js';

/** Why the signal of an attempt aborts after a complete answer. */
const COMPLETE = new Error('The answer is complete.');
const CLEAN_UP_MS = 10_000;
const STOPPED = new Error('The completion was stopped.');

/** The {@link CallContext} of one attempt. The signal exists only if the protocol asks for it: most protocols do not. */
export class AttemptContext implements CallContext, AttemptObserver {
  private aborter: AbortController | undefined;
  private reason: Error | undefined;
  private end: AttemptEnd | undefined;
  private cleanUps: CleanUp[] = [];

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
    return (url, init) => this.fetchUntil(this.signal, url, init);
  }

  readonly afterAttempt = (cleanUp: CleanUp): void => {
    if (this.end === undefined) this.cleanUps.push(cleanUp);
    else void this.cleanUp(cleanUp, this.end);
  };

  /** Aborts the signal, and cleans up. */
  onEnd(end: AttemptEnd): void {
    this.end = end;
    this.reason = reasonOf(end);
    this.aborter?.abort(this.reason);
    for (const cleanUp of this.cleanUps) void this.cleanUp(cleanUp, end);
    this.cleanUps = [];
  }

  private async cleanUp(cleanUp: CleanUp, { type }: AttemptEnd): Promise<void> {
    const signal = timeoutSignal(CLEAN_UP_MS);
    try {
      await cleanUp((url, init) => this.fetchUntil(signal, url, init), type);
    } catch {
      // The provider is unavailable, or has ended the work itself.
    }
  }

  private fetchUntil(until: AbortSignal, url: string | URL, init: Parameters<CallContext['fetch']>[1] = {}) {
    const signal = init.signal == null ? until : AbortSignal.any([until, init.signal]);
    return fetch(url, { ...init, signal, dispatcher: this.connections.dispatcher(this.upstream) });
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
