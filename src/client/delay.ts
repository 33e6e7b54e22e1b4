import { onNetwork } from './network-events.js';

/**
 * Waits until the time is over or the signal is aborted. Leaves no timer and no listener behind.
 *
 * @param endsOnline whether the wait also ends when the browser reports that it is online again.
 */
export function delay(ms: number, signal: AbortSignal | undefined, endsOnline = false): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stopListening?.();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    const stopListening = endsOnline ? onNetwork('online', end) : undefined;
    signal?.addEventListener('abort', end);
  });
}
