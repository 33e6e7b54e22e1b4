import { setTimeout as sleep } from 'node:timers/promises';
import type { ReceivedStream } from './sse-client.js';

/** The refusals of an overloaded process. They count against no limit. */
const OVERLOADED = /process is overloaded|database is too slow/;
/** A process that was starved recovers in up to 26 s. The minute in which its limits count is not over before. */
const TIMEOUT_MS = 45_000;

/** Repeats a request that an overloaded process refuses, as clients do. Such a refusal is not about limits. */
export async function retryWhileOverloaded(request: () => Promise<ReceivedStream>): Promise<ReceivedStream> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const answer = await request();
    if (answer.status !== 503 || performance.now() > deadline || !OVERLOADED.test(await answer.body())) return answer;
    await sleep(Number(answer.headers['retry-after']) * 1000);
  }
}
