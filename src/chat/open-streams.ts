import { Injectable } from '@nestjs/common';
import { RevocationWatch } from '../accounts/revocation-watch.js';
import type { Principal } from '../auth/principal.js';
import { DrainState } from '../common/drain-state.js';
import { ServiceError } from '../common/service-error.js';

/** A stream that runs, as seen by what may end it from outside. */
export interface OpenStream {
  /** Aborts when the client has left, its key is revoked or the process stops; the reason says which. */
  readonly signal: AbortSignal;
  /** To be called however the stream ended. */
  close(): void;
}

/** All streams of this process. Ends them when their key is revoked, and lets them finish when the process stops. */
@Injectable()
export class OpenStreams {
  private readonly running = new Set<AbortController>();
  private onIdle: (() => void) | undefined;

  constructor(
    private readonly revocations: RevocationWatch,
    private readonly drainState: DrainState,
  ) {}

  /**
   * @param left aborts when the client has gone.
   * @throws {ServiceError} `shutting_down`
   */
  open({ credential }: Principal, left: AbortSignal): OpenStream {
    if (this.drainState.isDraining) throw shuttingDown();
    const ending = new AbortController();
    const leave = (): void => {
      ending.abort(left.reason);
    };
    if (left.aborted) leave();
    else left.addEventListener('abort', leave, { once: true });
    const unwatch = this.revocations.watch(credential.keyId, () => {
      ending.abort(new ServiceError('key_revoked', 'The API key was revoked or has expired.'));
    });
    this.running.add(ending);
    const close = (): void => {
      unwatch();
      left.removeEventListener('abort', leave);
      if (this.running.delete(ending) && this.running.size === 0) this.onIdle?.();
    };
    return { signal: ending.signal, close };
  }

  /**
   * Resolves when every stream has ended. Those that run after `graceMs` are told to end and get `farewellMs` for it: a
   * client that does not read cannot be told.
   */
  async drain(graceMs: number, farewellMs: number): Promise<void> {
    if (await this.idleWithin(graceMs)) return;
    for (const ending of this.running) ending.abort(shuttingDown());
    await this.idleWithin(farewellMs);
  }

  private async idleWithin(limitMs: number): Promise<boolean> {
    if (this.running.size === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    const idle = new Promise<boolean>((resolve) => {
      this.onIdle = () => {
        resolve(true);
      };
      timer = setTimeout(resolve, limitMs, false);
    });
    try {
      return await idle;
    } finally {
      clearTimeout(timer);
    }
  }
}

function shuttingDown(): ServiceError {
  return new ServiceError('shutting_down', 'This process is stopping. Try again.', {
    headers: { Connection: 'close' },
  });
}
