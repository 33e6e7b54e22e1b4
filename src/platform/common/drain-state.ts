import { Injectable } from '@nestjs/common';

/** Stores whether this process is stopping. A stopping process is not ready and accepts no new streams. */
@Injectable()
export class DrainState {
  private started = false;
  private readonly listeners = new Set<() => void>();

  get isDraining(): boolean {
    return this.started;
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
