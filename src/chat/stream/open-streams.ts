import { Inject, Injectable } from '@nestjs/common';
import { RevocationWatch } from '../../accounts/api-keys/revocation-watch.js';
import { SessionWatch } from '../../accounts/sessions/session-watch.js';
import type { Credential, Principal } from '../../auth/principal/principal.js';
import { DrainState } from '../../common/drain-state.js';
import { ServiceError } from '../../common/service-error.js';
import { ShedLoad } from '../../common/shed-load.js';
import { CONFIG, type Config } from '../../config/config.js';

/** Ends a stream with what its client is to be told. */
export type EndStream = (reason: ServiceError) => void;

/** All streams of this process. Ends them with their key or session, and lets them finish when the process stops. */
@Injectable()
export class OpenStreams {
  private readonly running = new Set<EndStream>();
  private onIdle: (() => void) | undefined;

  constructor(
    private readonly revocations: RevocationWatch,
    private readonly sessions: SessionWatch,
    private readonly drainState: DrainState,
    private readonly shedLoad: ShedLoad,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  get count(): number {
    return this.running.size;
  }

  /**
   * @param end is called at most once, and not after the stream is over.
   * @returns to be called when the stream is over, however it ended.
   * @throws {ServiceError} `shutting_down`; `unavailable` above MAX_STREAMS, for routes that are not `@OpensStream()`.
   */
  add({ credential }: Principal, end: EndStream): () => void {
    if (this.drainState.isDraining) throw shuttingDown();
    if (this.running.size >= this.config.maxStreams) {
      this.shedLoad.note('streams');
      throw new ServiceError('unavailable', 'This process has as many open streams as it can hold. Try again.');
    }
    const unwatch = this.watch(credential, (message) => {
      end(new ServiceError('key_revoked', message));
    });
    this.running.add(end);
    return () => {
      unwatch();
      if (this.running.delete(end) && this.running.size === 0) this.onIdle?.();
    };
  }

  /**
   * Resolves when every stream has ended. Those that run after `graceMs` are told to end and get `farewellMs` for it: a
   * client that does not read cannot be told.
   */
  async drain(graceMs: number, farewellMs: number): Promise<void> {
    if (await this.idleWithin(graceMs)) return;
    for (const end of this.running) end(shuttingDown());
    await this.idleWithin(farewellMs);
  }

  /** @returns ends the watch. */
  private watch(credential: Credential, onEnded: (message: string) => void): () => void {
    switch (credential.kind) {
      case 'api_key':
        return this.revocations.watch(credential.keyId, () => {
          onEnded('The API key was revoked or has expired.');
        });
      case 'session':
        return this.sessions.watch(credential.sessionId, () => {
          onEnded('The session has ended.');
        });
      case 'external':
        return () => undefined;
    }
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
