import type { ChatError } from './chat-error.js';

/**
 * What happens to the connection of a durable stream.
 *
 * @since 1.0
 */
export type ConnectionEvent =
  /** There is no connection any more. `lastTextAt` is the time of the last text in milliseconds since 1970. `undefined`: no text. */
  | { readonly type: 'lost'; readonly lastTextAt: number | undefined; readonly error: ChatError }
  /** The client tries to connect again. `attempt` counts from 1. */
  | { readonly type: 'reconnecting'; readonly attempt: number }
  /** A new connection continues the stream. */
  | { readonly type: 'resumed'; readonly attempts: number };

/** Reports each event once, in order: `lost`, then `reconnecting` for each attempt, then `resumed`. */
export class ConnectionEvents {
  #attempts: number | undefined;
  readonly #report: ((event: ConnectionEvent) => void) | undefined;

  constructor(report: ((event: ConnectionEvent) => void) | undefined) {
    this.#report = report;
  }

  lost(error: ChatError, lastTextAt: number | undefined): void {
    if (this.#attempts !== undefined) return;
    this.#attempts = 0;
    this.#report?.({ type: 'lost', lastTextAt, error });
  }

  connecting(): void {
    if (this.#attempts !== undefined) this.#report?.({ type: 'reconnecting', attempt: ++this.#attempts });
  }

  connected(): void {
    const attempts = this.#attempts;
    this.#attempts = undefined;
    if (attempts !== undefined) this.#report?.({ type: 'resumed', attempts });
  }
}
