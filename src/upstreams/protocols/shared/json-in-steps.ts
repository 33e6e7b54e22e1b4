import { Steps } from '../../../common/event-loop/event-loop-turns.js';

/** The maximum length of a text that is written at once, in UTF-16 units. */
const SLICE_LENGTH = 32 * 1024;

/**
 * Creates the same bytes as `JSON.stringify(value)` in UTF-8, in steps that do not block the event loop for long.
 *
 * @param value objects, arrays, strings, numbers, booleans and null. Members that are `undefined` are left out.
 */
export async function jsonInSteps(value: object): Promise<Buffer> {
  const steps = new Steps();
  const written: Buffer[] = [];
  let text = '';
  for (const piece of jsonPieces(value)) {
    if (typeof piece === 'string') text += piece;
    if (text.length >= SLICE_LENGTH || typeof piece !== 'string') {
      written.push(Buffer.from(text));
      text = '';
    }
    if (typeof piece !== 'string') written.push(piece);
    if (steps.isOver) await steps.next();
  }
  written.push(Buffer.from(text));
  return Buffer.concat(written);
}

type Pieces = Generator<string | Buffer>;

function* jsonPieces(value: unknown): Pieces {
  if (typeof value === 'string' && value.length > SLICE_LENGTH) yield* longTextPieces(value);
  else if (Array.isArray(value)) yield* arrayPieces(value);
  else if (typeof value === 'object' && value !== null) yield* objectPieces(value);
  else yield JSON.stringify(value);
}

function* arrayPieces(items: readonly unknown[]): Pieces {
  let before = '[';
  for (const item of items) {
    yield before;
    yield* jsonPieces(item);
    before = ',';
  }
  yield items.length === 0 ? '[]' : ']';
}

function* objectPieces(members: object): Pieces {
  let before = '{';
  for (const [name, member] of Object.entries(members)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* jsonPieces(member);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** Yields bytes, because joining bytes is cheaper than joining strings. */
function* longTextPieces(text: string): Pieces {
  yield '"';
  for (let start = 0; start < text.length;) {
    const end = endOfSlice(text, start);
    // Leave out the quotes around the slice.
    yield Buffer.from(JSON.stringify(text.slice(start, end))).subarray(1, -1);
    start = end;
  }
  yield '"';
}

/** Returns an end that does not split a surrogate pair. `JSON.stringify` would escape the two halves separately. */
function endOfSlice(text: string, start: number): number {
  const end = start + SLICE_LENGTH;
  const last = text.charCodeAt(end - 1);
  return end < text.length && last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
}
