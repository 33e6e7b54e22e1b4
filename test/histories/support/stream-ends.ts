import { hold } from '../../support/invariants.js';
import type { StreamClient } from './stream-client.js';

/** Ends of one reader, who comes again for the end of the stream. */
const OF_READER = ['disconnected', 'unavailable', 'concurrency_limit_exceeded', 'not_found', 'shutting_down'];
/** From the time at which Redis has the end of a stream until a reader has it. */
const TOLD_WITHIN_MS = 1_000;

/**
 * Checks that all readers of a stream get the same end. Redis can be emptied after a reader has got the end. Then the owner of a
 * stream that was interrupted may come back with the whole answer, and a reader of a stream that was whole may never get its end.
 *
 * @throws {Violation} when two readers have different ends.
 */
export function checkEnds(clients: readonly StreamClient[], emptiedAt: readonly number[]): void {
  const latest = new Map<string, StreamClient>();
  for (const client of [...clients].sort((one, other) => overAt(one) - overAt(other))) {
    const { streamId, end, hasLeft, key } = client;
    if (streamId === undefined || end === undefined || hasLeft || OF_READER.includes(end)) continue;
    const before = latest.get(streamId) ?? client;
    latest.set(streamId, client);
    const firstAtMs = Math.min(...[before, client].map((each) => overAt(each) - tellingMs(each)));
    const isForgotten = emptiedAt.some((at) => firstAtMs <= at && at <= overAt(client));
    const mayDiffer = isForgotten && [before.end, end].includes('interrupted');
    hold('one end', before.end === end || mayDiffer, () => `${key} ends with ${before.end} and ${end}`);
  }
}

function overAt({ overAtMs = 0 }: StreamClient): number {
  return overAtMs;
}

function tellingMs({ replica }: StreamClient): number {
  return TOLD_WITHIN_MS + replica.owner.stoppedMs;
}
