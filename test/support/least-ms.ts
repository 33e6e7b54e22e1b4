const ATTEMPTS = 5;

/** The least CPU time of 5 runs of `work`, in milliseconds, which a busy machine does not change. */
export function leastMs(work: () => unknown): number {
  let least = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const startedAt = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(startedAt);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

/** The least CPU time of 3 runs of `work`, in milliseconds. The first ones may have to compile it, or to collect what other work left. */
export async function leastCpuMs(work: () => unknown): Promise<number> {
  let least = Infinity;
  for (let attempt = 0; attempt < 3; attempt++) {
    const startedAt = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(startedAt);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
