import { Injectable } from '@nestjs/common';

/** What tells that a request is over, such as its response. */
interface Closing {
  readonly closed: boolean;
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Stores whether this process is stopping. A stopping process is not ready and admits no new streams. What it has admitted before goes
 * on.
 */
@Injectable()
export class DrainState {
  /** Called when the last admitted request is over. */
  onIdle: (() => void) | undefined;
  private started = false;
  private admitted = 0;
  private readonly listeners = new Set<() => void>();

  get isDraining(): boolean {
    return this.started;
  }

  /** True while a request is not over that was admitted before the process began to stop. */
  get hasAdmitted(): boolean {
    return this.admitted > 0;
  }

  /**
   * Admits a request, and waits for it at the shutdown.
   *
   * @param response has the event `close` when the request is over.
   * @returns false when the process is stopping.
   */
  admit(response: Closing): boolean {
    if (this.started) return false;
    if (response.closed) return true;
    this.admitted += 1;
    response.once('close', () => {
      this.admitted -= 1;
      if (this.admitted === 0) this.onIdle?.();
    });
    return true;
  }

  /**
   * Calls the listener when the process begins to stop, at most once. If it stops already, in the next microtask.
   *
   * @returns a function that ends this.
   */
  whenStarted(listener: () => void): () => void {
    this.listeners.add(listener);
    if (this.started) {
      queueMicrotask(() => {
        if (this.listeners.delete(listener)) listener();
      });
    }
    return () => this.listeners.delete(listener);
  }

  begin(): void {
    this.started = true;
    for (const listener of this.listeners) listener();
    this.listeners.clear();
  }
}
