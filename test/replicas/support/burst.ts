import { retryWhileOverloaded } from '../../support/retry-while-overloaded.js';
import { openStream, type ReceivedStream, type StreamOptions } from '../../support/sse-client.js';

/** Far above what a request may wait for a store, and far below what it would wait for a connection that hangs. */
export const NOT_HANGING_MS = 10_000;

/** What came of requests sent at once. Those admitted are open still, or over, as the provider wants it. */
export class Burst {
  /** @param longestMs how long the slowest of all requests waited for its status, those included that were asked again. */
  constructor(
    readonly answers: readonly ReceivedStream[],
    readonly longestMs: number,
  ) {}

  get admitted(): readonly ReceivedStream[] {
    return this.answers.filter(({ status }) => status === 200);
  }

  get refused(): readonly ReceivedStream[] {
    return this.answers.filter(({ status }) => status !== 200);
  }

  /** The codes of the refusals, each once. */
  async codes(): Promise<readonly string[]> {
    const errors = await this.errors();
    return [...new Set(errors.map(({ code }) => code))].sort();
  }

  /** How many were admitted, and how many were refused with each code. A process that was busy says with what. */
  async outcomes(): Promise<Readonly<Record<string, number>>> {
    const errors = await this.errors();
    const counts: Record<string, number> = { admitted: this.admitted.length };
    for (const { code, message } of errors) {
      const outcome = code === 'unavailable' ? message : code;
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    return counts;
  }

  /** The clients close their connections. */
  leave(): void {
    for (const answer of this.admitted) answer.leave();
  }

  private errors() {
    return Promise.all(this.refused.map((answer) => answer.error()));
  }
}

/** Sends so many requests to each of the replicas, all at once. */
export async function burst(origins: readonly string[], count: number, options: StreamOptions): Promise<Burst> {
  let longestMs = 0;
  const ask = async (origin: string): Promise<ReceivedStream> => {
    const queriedAt = performance.now();
    const answer = await openStream(origin, options);
    longestMs = Math.max(longestMs, performance.now() - queriedAt);
    return answer;
  };
  const requests = Array.from({ length: count }, () =>
    origins.map((origin) => retryWhileOverloaded(() => ask(origin))),
  );
  return new Burst(await Promise.all(requests.flat()), longestMs);
}
