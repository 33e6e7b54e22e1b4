import { ChatError } from '../../client.js';
import { delay } from '../../client/delay.js';

const FIRST_PAUSE_MS = 1_000;
/** All pauses together take about as long as the service generates without a reader. */
const MAX_PAUSE_MS = 128_000;

/**
 * Ends a stream in the service. Without a connection, tries again later: meanwhile the service generates on, and charges.
 *
 * @param {import('../../client.js').ChatClient} client
 * @param {string} streamId
 */
export async function cancelStream(client, streamId) {
  for (let pauseMs = FIRST_PAUSE_MS; pauseMs <= MAX_PAUSE_MS; pauseMs *= 2) {
    try {
      await client.cancel(streamId);
      return;
    } catch (error) {
      if (!(error instanceof ChatError) || error.kind !== 'unreachable') return;
    }
    await delay(pauseMs, undefined, true);
  }
}
