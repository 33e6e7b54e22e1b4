import type { ReceivedStream } from './sse-client.js';

/** The content of a stream, parsed strictly by the contract of the API. */
export interface Wire {
  readonly texts: readonly string[];
  readonly text: string;
  readonly keepAlives: number;
  /** `done`, or the error code. `undefined` if the stream broke off without a final block. */
  readonly terminal: string | undefined;
  /** Bytes after the last blank line. */
  readonly rest: string;
}

interface Chunk {
  readonly content: string;
  readonly done: boolean;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Half a code point. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const KEEP_ALIVE = ': keep-alive';
const DONE = 'data: {"content":"","done":true}';

/**
 * Parses the bytes of a stream. The valid blocks are text, keep-alive, done and error.
 *
 * @throws {Error} at the first block that is not exactly one of these four.
 */
export function readWire(raw: string): Wire {
  const blocks = raw.split('\n\n');
  const rest = blocks.pop() ?? '';
  const texts: string[] = [];
  let keepAlives = 0;
  let terminal: string | undefined;
  for (const block of blocks) {
    if (terminal !== undefined) throw new Error(`A block follows the end: ${block}`);
    if (block === KEEP_ALIVE) keepAlives++;
    else if (block === DONE) terminal = 'done';
    else if (block.startsWith('event: error\n')) terminal = errorCodeOf(block);
    else texts.push(textOf(block));
  }
  return { texts, text: texts.join(''), keepAlives, terminal, rest };
}

/** Reads a stream to its end. */
export async function wireOf(stream: ReceivedStream): Promise<Wire> {
  return readWire(await stream.body());
}

function textOf(block: string): string {
  const { content } = parse(block, 'data: ');
  if (content === '') throw new Error(`A piece without text: ${block}`);
  if (LONE_SURROGATE.test(content)) throw new Error(`A piece that ends inside a code point: ${block}`);
  const json = JSON.stringify({ content, done: false })
    .replaceAll('\u0085', '\\u0085')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
  if (block !== `data: ${json}`) throw new Error(`Not a block: ${block}`);
  return content;
}

function errorCodeOf(block: string): string {
  const { error } = parse(block, 'event: error\ndata: ');
  const { code = '', message = '' } = error ?? {};
  const chunk = { content: '', done: false, error: { code, message } };
  if (code === '' || message === '' || block !== `event: error\ndata: ${JSON.stringify(chunk)}`) {
    throw new Error(`Not an error block: ${block}`);
  }
  return code;
}

function parse(block: string, prefix: string): Chunk {
  if (!block.startsWith(prefix)) throw new Error(`Not a block: ${JSON.stringify(block)}`);
  return JSON.parse(block.slice(prefix.length)) as Chunk;
}
