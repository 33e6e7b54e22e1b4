/** One wait consists of this many timers, one after the other. */
const PARTS = 5;

/**
 * Returns the outcome of `work`, or rejects with `late()` if there is no outcome after `limitMs`.
 *
 * Time in which the event loop was blocked does not count. After a block, at most one of the timers has expired, and an
 * answer that waits in a socket is read before the next timer can expire. So load on this process cannot make an answer
 * late.
 */
export async function withTimeout<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const wait = (partsLeft: number): void => {
      timer = setTimeout(() => {
        if (partsLeft > 1) {
          wait(partsLeft - 1);
          return;
        }
        // Node reads the sockets once more before this callback runs.
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
