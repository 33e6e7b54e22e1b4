/** The outcome of `work`, or a rejection with `late()` when it is not there after `limitMs`. */
export async function within<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      // When this process was busy, the answer may lie in the socket: it is read before this runs.
      setImmediate(() => {
        reject(late());
      });
    }, limitMs);
    work
      .finally(() => {
        clearTimeout(timer);
      })
      .then(resolve, reject);
  });
}
