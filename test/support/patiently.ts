import { setTimeout as sleep } from 'node:timers/promises';
import type { ReceivedStream } from './sse-client.js';

/** A process whose machine has no time for it refuses so before it counts anything. */
const NO_TIME = /process is overloaded|database is too slow/;
/** A process that was starved recovers in up to 26 s. The minute in which its limits count is not over before. */
const PATIENCE_MS = 45_000;

/** Like any client, asks again later where the process had no time: that says nothing about its limits. */
export async function patiently(ask: () => Promise<ReceivedStream>): Promise<ReceivedStream> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503 || performance.now() > deadline || !NO_TIME.test(await answer.body())) return answer;
    await sleep(Number(answer.headers['retry-after']) * 1000);
  }
}
