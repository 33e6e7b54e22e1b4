/** The part of a browser's global object that reports changes of the network. Other runtimes do not have it. */
interface NetworkEvents {
  readonly addEventListener?: (name: string, listener: () => void) => void;
  readonly removeEventListener?: (name: string, listener: () => void) => void;
}

/** Calls the listener each time the browser reports that it is online, or offline. Returns a function that ends this. */
export function onNetwork(event: 'online' | 'offline', listener: () => void): () => void {
  const { addEventListener, removeEventListener } = globalThis as unknown as NetworkEvents;
  addEventListener?.call(globalThis, event, listener);
  return () => removeEventListener?.call(globalThis, event, listener);
}

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
