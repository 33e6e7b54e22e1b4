import type { ServiceError } from '../../common/service-error.js';

/** How an attempt has ended. A stopped attempt says nothing about its provider. */
export type AttemptEnd =
  | { readonly type: 'complete' }
  | { readonly type: 'stopped' }
  | { readonly type: 'failed'; readonly failure: ServiceError };

/**
 * Is notified of the events of one attempt: at most one first text, then exactly one end. The `AttemptTrace` of the attempt
 * contains the times and the error code of an event before its observers are notified.
 */
export interface AttemptObserver {
  /** The reader has taken the first text, or the start of the first tool call. */
  onFirstText?(): void;
  onEnd(end: AttemptEnd): void;
}
