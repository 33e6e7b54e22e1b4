/** The uses of a pace that are not over, in the order of their beginning. */
const uses = new Set<{ readonly pace: number }>();
let pace = 1;
/** What {@link elapsedMs} is ahead of the real time at the pace. A whole number, so that ages stay exact: it can make the time jump ahead, by less than a millisecond. */
let ahead = 0;

/**
 * Makes all timers that this process starts from now on so many times faster: with a pace of 20, the service waits 500 ms where it
 * waits 10 s otherwise. Of several paces, the one that was set last counts. For tests only.
 *
 * @returns a function that ends the use of this pace.
 */
export function usePace(faster: number): () => void {
  const use = { pace: faster };
  uses.add(use);
  changePace();
  return () => {
    uses.delete(use);
    changePace();
  };
}

function changePace(): void {
  const before = elapsedMs();
  pace = [...uses].at(-1)?.pace ?? 1;
  ahead = Math.ceil(before - performance.now() * pace);
}

/** The milliseconds since some moment, by a monotonic clock that goes at the pace. For deadlines, and for ages that have a limit. */
export function elapsedMs(): number {
  return performance.now() * pace + ahead;
}

/** Returns how long a time lasts at the pace, in whole milliseconds, for the time limits of libraries. */
export function realMs(ms: number): number {
  return Math.ceil(ms / pace);
}

/** `setTimeout` at the pace. */
export function startTimer(callback: () => void, ms = 0): NodeJS.Timeout {
  return setTimeout(callback, realMs(ms));
}

/** `setInterval` at the pace. The interval does not keep the process alive. */
export function startInterval(callback: () => void, ms: number): NodeJS.Timeout {
  return setInterval(callback, realMs(ms)).unref();
}

/** `AbortSignal.timeout` at the pace. */
export function timeoutSignal(ms: number): AbortSignal {
  return AbortSignal.timeout(realMs(ms));
}

interface SleepOptions {
  /** False: the wait does not keep the process alive. */
  readonly ref?: boolean;
  /** Ends the wait early. */
  readonly signal?: AbortSignal;
}

/** Resolves after this time, or when the signal aborts. */
export function sleep(ms: number, { ref = true, signal }: SleepOptions = {}): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = startTimer(end, ms);
    if (!ref) timer.unref();
    signal?.addEventListener('abort', end);
    if (signal?.aborted === true) end();
  });
}
