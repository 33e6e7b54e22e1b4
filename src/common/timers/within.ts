/** A wait consists of this many timers, one after the other. */
const PARTS = 5;

/**
 * The outcome of `work`, or a rejection with `late()` when there is no outcome after `limitMs`.
 *
 * Time in which the event loop was blocked does not count: after it at most one of the timers has expired, and an answer
 * that lies in a socket is read before the next one can expire. So load on this process cannot make an answer late.
 */
export async function within<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const wait = (partsLeft: number): void => {
      timer = setTimeout(() => {
        if (partsLeft > 1) {
          wait(partsLeft - 1);
          return;
        }
        // The sockets are read once more before this runs.
        setImmediate(() => {
          reject(late());
        });
      }, limitMs / PARTS);
    };
    wait(PARTS);
    work
      .finally(() => {
        clearTimeout(timer);
      })
      .then(resolve, reject);
  });
}
