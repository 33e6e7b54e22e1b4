import { readDurable, resume, streamIdOf } from '../../support/durable.js';
import { openStream, type ReceivedStream } from '../../support/sse-client.js';
import { waitFor } from '../../support/wait-for.js';

/** What a client has after all its connections to one stream. */
export interface CutReading {
  readonly text: string;
  /** Each terminal that arrived, in order. */
  readonly terminals: readonly string[];
  readonly connections: number;
}

export interface CutOptions {
  readonly origins: readonly string[];
  readonly key: string;
  readonly name: string;
  readonly content: string;
  /** How often the client leaves, each time after a random number of bytes. */
  readonly cuts: number;
}

/**
 * Reads a durable stream in pieces: leaves after a random number of bytes, comes again at a random replica, by key or by id,
 * with the id of the last whole event, and joins the texts. Also comes again when a connection ends without a terminal.
 */
export async function readInPieces({ origins, key, name, content, cuts }: CutOptions): Promise<CutReading> {
  const terminals: string[] = [];
  let text = '';
  let lastEventId: string | undefined;
  let streamId: string | undefined;
  for (let connections = 1; ; connections++) {
    const answer = await connect(origins, { key, name, content, streamId, lastEventId });
    streamId ??= streamIdOf(answer);
    const isLast = connections > cuts;
    if (isLast) await answer.over;
    else await leaveAfterSomeBytes(answer);
    const wire = readDurable(answer.raw);
    text += wire.text;
    lastEventId = wire.ids.at(-1) ?? lastEventId;
    if (wire.terminal !== undefined) terminals.push(wire.terminal);
    if (wire.terminal !== undefined) return { text, terminals, connections };
  }
}

interface Place {
  readonly key: string;
  readonly name: string;
  readonly content: string;
  readonly streamId: string | undefined;
  readonly lastEventId: string | undefined;
}

/** Tries again when the stream still has its old readers, or when a replica is gone. */
function connect(origins: readonly string[], place: Place): Promise<ReceivedStream> {
  return waitFor(async () => {
    const origin = origins[Math.floor(Math.random() * origins.length)] ?? '';
    const answer = await open(origin, place).catch(() => undefined);
    if (answer?.status === 200) return answer;
    if (answer === undefined || answer.status === 429 || answer.status === 503) return undefined;
    throw new Error(`${answer.status} ${await answer.body()}`);
  }, 'a replica to answer');
}

function open(origin: string, { key, name, content, streamId, lastEventId }: Place): Promise<ReceivedStream> {
  if (streamId !== undefined && Math.random() < 0.5) return resume(origin, streamId, { key, lastEventId });
  return openStream(origin, {
    key,
    body: { messages: [{ role: 'user', content }] },
    headers: { 'idempotency-key': name, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
  });
}

async function leaveAfterSomeBytes(answer: ReceivedStream): Promise<void> {
  const bytes = Math.floor(Math.random() * 1_500);
  let isOver = false;
  void answer.over.then(() => (isOver = true));
  await waitFor(() => isOver || answer.receivedBytes >= bytes, 'some bytes');
  answer.leave();
  await answer.over;
}
