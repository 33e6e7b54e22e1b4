import { Inject, Injectable } from '@nestjs/common';
import { CredentialWatch } from '../../accounts/ended/credential-watch.js';
import type { ExternalCredential, Principal } from '../../auth/principal/principal.js';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { DrainState } from '../../platform/common/drain-state.js';
import { Registry } from '../../platform/common/registry.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { ShedLoad } from '../../platform/common/shed-load.js';
import { sleep } from '../../platform/common/timers/pace.js';
import { CONFIG, type Config } from '../../platform/config/config.js';

/** When a client may try again, in seconds. */
const RETRY_AFTER_SECONDS = 5;

/** Ends a stream. The client receives `reason` as the error. */
export type EndStream = (reason: ServiceError) => void;

/** Holds all streams of this process. Ends a stream when its credential or its account ends. Lets the streams finish at shutdown. */
@Injectable()
export class OpenStreams {
  private readonly running = new Registry<EndStream>();
  private readonly readers = new Registry<EndStream>();
  private isGraceOver = false;
  private onIdle: (() => void) | undefined;

  constructor(
    private readonly credentials: CredentialWatch,
    private readonly drainState: DrainState,
    private readonly shedLoad: ShedLoad,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    drainState.onIdle = () => {
      this.notifyIfIdle();
    };
  }

  get count(): number {
    return this.running.size;
  }

  /**
   * Adds a stream.
   *
   * @param end is called at most once, and never after the end of the stream.
   * @param isAdmitted whether the stream belongs to a request that was admitted before the shutdown began.
   * @returns a function to call at the end of the stream, with or without a failure.
   * @throws {ServiceError} `shutting_down`, or `unavailable` above MAX_STREAMS. Routes with `@OpensStream()` check
   * MAX_STREAMS earlier.
   */
  add(principal: Principal, end: EndStream, isAdmitted = false): () => void {
    if (this.isGraceOver || (this.drainState.isDraining && !isAdmitted)) throw shuttingDown();
    if (this.running.size >= this.config.maxStreams) {
      this.shedLoad.count('streams');
      throw new ServiceError('unavailable', 'This process has as many open streams as it can hold. Try again.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    const unwatch = this.watch(principal, end);
    const remove = this.running.add(end);
    return () => {
      unwatch();
      if (remove()) this.notifyIfIdle();
    };
  }

  /**
   * Adds a client that reads a stream which is generated independently. The shutdown waits for the client, too.
   *
   * @param end is called at most once, when the credential of the client ends or the grace period is over.
   * @returns a function to call when the client has left.
   */
  addReader(principal: Principal, end: EndStream): () => void {
    const unwatch = this.watch(principal, end);
    const remove = this.readers.add(end);
    return () => {
      unwatch();
      if (remove()) this.notifyIfIdle();
    };
  }

  /**
   * Resolves when all streams have ended, and all requests that may begin one. After `graceMs`, the remaining streams receive the reason
   * and have `noticeMs` to end. The second limit is necessary because a client that does not read cannot receive the reason.
   */
  async drain(graceMs: number, noticeMs: number): Promise<void> {
    if (await this.waitUntilIdle(graceMs)) return;
    this.isGraceOver = true;
    const stop = (end: EndStream): void => {
      end(shuttingDown());
    };
    this.running.forEach(stop);
    this.readers.forEach(stop);
    await this.waitUntilIdle(noticeMs);
  }

  /**
   * Calls `end` with `key_revoked` when the credential of the principal ends, or its account.
   *
   * @returns a function that ends the watch.
   */
  private watch({ accountId, credential }: Principal, end: EndStream): () => void {
    switch (credential.kind) {
      case 'api_key':
        return this.credentials.watch({ ...credential, id: credential.keyId, accountId }, () => {
          end(
            new ServiceError('key_revoked', 'The API key was revoked, has expired, or belongs to a disabled account.'),
          );
        });
      case 'session':
        return this.credentials.watch({ ...credential, id: credential.sessionId, accountId }, () => {
          end(new ServiceError('key_revoked', 'The session has ended.'));
        });
      case 'external': {
        const onEnded = (message: string): void => {
          end(new ServiceError('key_revoked', message));
        };
        const unwatch = watchExternal(credential, this.now, onEnded);
        const unwatchAccount = this.credentials.watch({ kind: 'account', id: accountId, accountId }, () => {
          onEnded('The account was disabled or deleted.');
        });
        return () => {
          unwatch();
          unwatchAccount();
        };
      }
    }
  }

  private get isIdle(): boolean {
    return this.running.size === 0 && this.readers.size === 0 && !this.drainState.hasAdmitted;
  }

  private notifyIfIdle(): void {
    if (this.isIdle) this.onIdle?.();
  }

  private async waitUntilIdle(limitMs: number): Promise<boolean> {
    if (this.isIdle) return true;
    const idle = new AbortController();
    this.onIdle = () => {
      idle.abort();
    };
    await sleep(limitMs, idle);
    return idle.signal.aborted;
  }
}

/** The error for work that a stopping process refuses or ends. */
export function shuttingDown(): ServiceError {
  return new ServiceError('shutting_down', 'This process is stopping. Try again.', {
    headers: { Connection: 'close' },
  });
}

/** The longest time of one timer of Node, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** @returns a function that ends the watch. */
function watchExternal(
  { expiresAt, revoked }: ExternalCredential,
  now: Clock,
  onEnded: (message: string) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  const expire = (): void => {
    const leftMs = (expiresAt?.getTime() ?? Infinity) - now();
    if (leftMs <= 0) onEnded('The credential has expired.');
    else if (leftMs !== Infinity) timer = setTimeout(expire, Math.min(leftMs, MAX_TIMER_MS)).unref();
  };
  const revoke = (): void => {
    onEnded('The credential was revoked.');
  };
  // Later than this call: the stream does not exist yet.
  if (revoked?.aborted === true) timer = setTimeout(revoke).unref();
  else timer = setTimeout(expire).unref();
  revoked?.addEventListener('abort', revoke);
  return () => {
    clearTimeout(timer);
    revoked?.removeEventListener('abort', revoke);
  };
}
