import { EventStreamCodec } from '@smithy/eventstream-codec';

/** The codec of the SDK of AWS, so that the decoder of the service is judged by another implementation. */
const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text),
);

type Headers = Readonly<Record<string, string>>;

function message(headers: Headers, payload: string): Buffer {
  const values = Object.entries(headers).map(([name, value]) => [name, { type: 'string' as const, value }]);
  return Buffer.from(codec.encode({ headers: Object.fromEntries(values) as never, body: Buffer.from(payload) }));
}

/** One event of an answer, as Bedrock sends it: with padding in `p`, so that the length tells nothing. */
export function converseEvent(type: string, body: object): Buffer {
  return converseEventOf(type, JSON.stringify({ ...body, p: 'abcdefghijklmnop' }));
}

/** The same for JSON text. */
export function converseEventOf(type: string, json: string): Buffer {
  return message({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, json);
}

export function converseException(type: string, body: object): Buffer {
  const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' };
  return message(headers, JSON.stringify(body));
}

/** An error without a model of its own. */
export function converseError(code: string, text: string): Buffer {
  return message({ ':error-code': code, ':error-message': text, ':message-type': 'error' }, '');
}

export const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };

const start = () => converseEvent('messageStart', { role: 'assistant' });
const metadata = (usage: object) => converseEvent('metadata', { metrics: { latencyMs: 275 }, usage });

/** A whole answer: blocks by index, the reason of its end, and then the token counts. */
export function converseAnswer(
  blocks: readonly (readonly object[])[],
  stopReason = 'end_turn',
  usage: object = USAGE,
): Buffer {
  const events = blocks.flatMap((deltas, contentBlockIndex) => [
    ...deltas.map((delta) =>
      'start' in delta
        ? converseEvent('contentBlockStart', { contentBlockIndex, ...delta })
        : converseEvent('contentBlockDelta', { contentBlockIndex, delta }),
    ),
    converseEvent('contentBlockStop', { contentBlockIndex }),
  ]);
  return Buffer.concat([start(), ...events, converseEvent('messageStop', { stopReason }), metadata(usage)]);
}

export const toolStart = (toolUseId: string, name: string) => ({ start: { toolUse: { toolUseId, name } } });
export const toolInput = (input: string) => ({ toolUse: { input } });
