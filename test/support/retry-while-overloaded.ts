import { setTimeout as sleep } from 'node:timers/promises';
import type { ReceivedStream } from './sse-client.js';

/** The refusals of an overloaded process. They count against no limit. */
const OVERLOADED = /process is overloaded|database is too slow/;
/** These, and the refusals of a process that was starved for so long that it takes its stores for unavailable. */
export const STARVED = new RegExp(`${OVERLOADED.source}|database is unavailable|Durable streams are not available`);
/** A process that was starved recovers in up to 26 s. The minute in which its limits count is not over before. */
const TIMEOUT_MS = 45_000;

/**
 * Repeats a request that an overloaded process refuses, as clients do. Such a refusal is not about limits.
 *
 * @param refusals matches the messages of these refusals.
 */
export async function retryWhileOverloaded(
  request: () => Promise<ReceivedStream>,
  refusals = OVERLOADED,
): Promise<ReceivedStream> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const answer = await request();
    if (answer.status !== 503 || performance.now() > deadline || !refusals.test(await answer.body())) return answer;
    await sleep(Number(answer.headers['retry-after']) * 1000);
  }
}
