const ATTEMPTS = 5;

/** The shortest time of 5 runs of `work`, in milliseconds. A busy machine interrupts some of the runs, but not all. */
export function leastMs(work: () => unknown): number {
  let least = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const startedAt = performance.now();
    work();
    least = Math.min(least, performance.now() - startedAt);
  }
  return least;
}
