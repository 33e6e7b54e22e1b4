import { openStream, type ReceivedStream, type StreamOptions } from './sse-client.js';
import { readWire, type Wire } from './wire.js';

/** The content of a durable stream, parsed strictly by the contract of the API. */
export interface DurableWire extends Wire {
  /** The id of each text block, in order. */
  readonly ids: readonly string[];
}

const ID_LINE = /^id: ([\w-]+)\n(?=data: )/;

/**
 * Parses the bytes of a durable stream, which may break off at any place. Text after the last blank line is dropped, as a
 * client does.
 *
 * @throws {Error} at a block that the contract does not allow, and at a text block without an id.
 */
export function readDurable(raw: string): DurableWire {
  const whole = raw.slice(0, raw.lastIndexOf('\n\n') + 2);
  const ids: string[] = [];
  const plain = whole
    .split('\n\n')
    .slice(0, -1)
    .map((block) => {
      const [line, id] = ID_LINE.exec(block) ?? [];
      if (line === undefined || id === undefined) {
        if (block.startsWith('data: {"content":"') && !block.startsWith('data: {"content":"","done":true}')) {
          throw new Error(`A text without an id: ${block}`);
        }
        return `${block}\n\n`;
      }
      ids.push(id);
      return `${block.slice(line.length)}\n\n`;
    });
  const wire = readWire(plain.join(''));
  if (wire.texts.length !== ids.length) throw new Error('A block without text has an id.');
  return { ...wire, ids };
}

export async function durableWireOf(stream: ReceivedStream): Promise<DurableWire> {
  return readDurable(await stream.body());
}

export interface ResumeOptions extends Pick<StreamOptions, 'key' | 'headers'> {
  readonly lastEventId?: string | undefined;
}

/** Sends `GET /chat/streams/{id}`. */
export function resume(
  origin: string,
  id: string,
  { key, headers, lastEventId }: ResumeOptions,
): Promise<ReceivedStream> {
  return openStream(origin, {
    key,
    method: 'GET',
    path: `/api/v1/chat/streams/${id}`,
    headers: { ...headers, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
  });
}

/** Sends `DELETE /chat/streams/{id}`. */
export function cancel(
  origin: string,
  id: string,
  options: Pick<StreamOptions, 'key' | 'headers'>,
): Promise<ReceivedStream> {
  return openStream(origin, { ...options, method: 'DELETE', path: `/api/v1/chat/streams/${id}` });
}

export function streamIdOf({ headers }: ReceivedStream): string {
  return String(headers['x-stream-id']);
}
