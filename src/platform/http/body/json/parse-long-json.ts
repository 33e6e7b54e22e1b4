import { isAscii } from 'node:buffer';
import { isSourceKept, keepSource, keepSources } from '../../../common/json/json-source.js';
import type { JsonBounds } from '../../../common/json/json-bounds.js';
import { Steps } from '../../../common/event-loop/event-loop-turns.js';

/** Objects, arrays and texts up to this size are parsed in one go, which takes about a millisecond. */
const PIECE_BYTES = 256 * 1024;
/** The number of bytes to look at between two looks at the clock. */
const LOOK_BYTES = 16 * 1024;
/** The longest escape sequence is `\uXXXX`. */
const MAX_ESCAPE_BYTES = 6;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const [OPENING_BRACKET, CLOSING_BRACKET] = [0x5b, 0x5d];
const [OPENING_BRACE, CLOSING_BRACE] = [0x7b, 0x7d];

/**
 * Parses JSON as `JSON.parse` does, in steps: a body of 32 MiB would otherwise stop all streams for a tenth of a second.
 *
 * @param bytes UTF-8.
 * @throws {JsonExcessError} if the value exceeds a bound.
 * @throws {SyntaxError} if the bytes are not JSON.
 */
export async function parseLongJson(bytes: Buffer, bounds: JsonBounds): Promise<unknown> {
  const steps = new Steps();
  return new LongJson(bytes, await longValues(bytes, bounds, steps), steps).whole();
}

/** The value exceeds a bound. */
export class JsonExcessError extends Error {
  constructor(readonly bound: keyof JsonBounds) {
    super(`The JSON exceeds the bound of its ${bound}.`);
  }
}

/** Where each object, array and text ends that is longer than a piece, by its beginning. */
type LongValues = ReadonlyMap<number, number>;

async function longValues(bytes: Buffer, bounds: JsonBounds, steps: Steps): Promise<LongValues> {
  const long = new Map<number, number>();
  const open: number[] = [];
  let values = 0;
  let nextLook = LOOK_BYTES;
  for (let at = 0; at < bytes.length; at += 1) {
    const start = at;
    switch (bytes[at]) {
      case QUOTE:
        at = endOfPlainString(bytes, at) ?? (await endOfString(bytes, at, steps));
        if (at - start >= PIECE_BYTES) long.set(start, at);
        break;
      case COMMA:
        values += 1;
        break;
      case OPENING_BRACE:
      case OPENING_BRACKET:
        values += 1;
        open.push(at);
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET: {
        const opened = open.pop() ?? at;
        if (at - opened >= PIECE_BYTES) long.set(opened, at);
        break;
      }
      case undefined:
      default:
    }
    if (open.length > bounds.depth) throw new JsonExcessError('depth');
    if (values > bounds.values) throw new JsonExcessError('values');
    if (at < nextLook) continue;
    nextLook = at + LOOK_BYTES;
    if (steps.isOver) await steps.next();
  }
  return long;
}

/** Returns the end of a string whose first quote is not escaped. A search is ten times faster than a loop. */
function endOfPlainString(bytes: Buffer, start: number): number | undefined {
  const quote = bytes.indexOf(QUOTE, start + 1);
  if (quote === -1) return bytes.length;
  return bytes[quote - 1] === BACKSLASH ? undefined : quote;
}

/** Returns the index of the quote that ends the string, or the length of the bytes. */
async function endOfString(bytes: Buffer, start: number, steps: Steps): Promise<number> {
  let at = start + 1;
  while (at < bytes.length) {
    const end = endWithin(bytes, at, Math.min(at + LOOK_BYTES, bytes.length));
    if (bytes[end] === QUOTE) return end;
    at = end;
    if (steps.isOver) await steps.next();
  }
  return bytes.length;
}

/** Returns the index of the first quote that is not escaped, or an index at or after `to` that is outside of escape sequences. */
function endWithin(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

class LongJson {
  private at = 0;

  constructor(
    private readonly bytes: Buffer,
    private readonly long: LongValues,
    private readonly steps: Steps,
  ) {}

  async whole(): Promise<unknown> {
    const value = await this.value();
    if (this.next() !== undefined) throw new SyntaxError('There is more after the value.');
    return value;
  }

  /** @param name of the member with this value. */
  private async value(name?: string): Promise<unknown> {
    if (this.steps.isOver) await this.steps.next();
    const first = this.next();
    const start = this.at;
    if (first === QUOTE) return this.text();
    if (this.long.has(start)) {
      // Arguments are objects, so a list is something else, such as the whole `input` of a request.
      if (first === OPENING_BRACKET) return this.array();
      const value = await this.object();
      if (isSourceKept(name)) keepSource(value, decoded(this.bytes, start, this.at));
      return value;
    }
    this.at = first === OPENING_BRACE || first === OPENING_BRACKET ? this.endOfContainer() : this.endOfLiteral();
    const text = decoded(this.bytes, start, this.at);
    const value: unknown = JSON.parse(text);
    // To find out whether the text is needed costs as much as to keep it, and later as much again for each use.
    keepSources(text, value, { name, keepsAll: true });
    return value;
  }

  private async object(): Promise<object> {
    const members: [string, unknown][] = [];
    do {
      this.at += 1;
      if (members.length === 0 && this.next() === CLOSING_BRACE) break;
      if (this.next() !== QUOTE) throw new SyntaxError('A name is missing.');
      const name = await this.text();
      if (this.next() !== COLON) throw new SyntaxError('A colon is missing.');
      this.at += 1;
      members.push([name, await this.value(name)]);
    } while (this.next() === COMMA);
    this.end(CLOSING_BRACE);
    // The last member with a name counts, and `__proto__` is a name like others.
    return Object.fromEntries(members);
  }

  private async array(): Promise<unknown[]> {
    const items: unknown[] = [];
    do {
      this.at += 1;
      items.push(await this.value());
    } while (this.next() === COMMA);
    this.end(CLOSING_BRACKET);
    return items;
  }

  private end(closing: number): void {
    if (this.next() !== closing) throw new SyntaxError('A comma or an end is missing.');
    this.at += 1;
  }

  /** A long text is decoded in pieces, which end neither inside a character nor inside an escape sequence. */
  private async text(): Promise<string> {
    const { bytes, at: quote } = this;
    const end = this.long.get(quote) ?? endWithin(bytes, quote + 1, bytes.length);
    this.at = end + 1;
    if (end - quote < PIECE_BYTES) return parsed(bytes, quote, end + 1) as string;
    if (end >= bytes.length) throw new SyntaxError('A text has no end.');
    const pieces: string[] = [];
    for (let from = quote + 1; from < end;) {
      const to = from + PIECE_BYTES < end ? cut(bytes, from, from + PIECE_BYTES) : end;
      pieces.push(JSON.parse(`"${decoded(bytes, from, to)}"`) as string);
      from = to;
      if (this.steps.isOver) await this.steps.next();
    }
    return pieces.join('');
  }

  /** Skips white space, and returns the next byte. */
  private next(): number | undefined {
    for (;;) {
      const byte = this.bytes[this.at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
      this.at += 1;
    }
  }

  private endOfContainer(): number {
    let depth = 0;
    for (let at = this.at; at < this.bytes.length; at += 1) {
      const byte = this.bytes[at];
      if (byte === QUOTE) at = endWithin(this.bytes, at + 1, this.bytes.length);
      else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) depth += 1;
      else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) depth -= 1;
      if (depth === 0) return at + 1;
    }
    return this.bytes.length;
  }

  private endOfLiteral(): number {
    let { at } = this;
    for (let byte = this.bytes[at]; byte !== undefined && !isAfterLiteral(byte); byte = this.bytes[at]) at += 1;
    return at;
  }
}

function isAfterLiteral(byte: number): boolean {
  return byte <= 0x20 || byte === COMMA || byte === CLOSING_BRACKET || byte === CLOSING_BRACE;
}

function parsed(bytes: Buffer, from: number, to: number): unknown {
  return JSON.parse(decoded(bytes, from, to));
}

function decoded(bytes: Buffer, from: number, to: number): string {
  return bytes.toString(isAscii(bytes.subarray(from, to)) ? 'latin1' : 'utf8', from, to);
}

/** Returns the end of a piece of a string, near `to`. The piece begins outside of escape sequences. */
function cut(bytes: Buffer, from: number, to: number): number {
  while (((bytes[to] ?? 0) & 0xc0) === 0x80) to -= 1;
  // A search in the whole body would read all of it if it has no backslash.
  const near = Math.max(from, to - MAX_ESCAPE_BYTES);
  const slash = near + bytes.subarray(near, to).lastIndexOf(BACKSLASH);
  if (slash < near) return to;
  let first = slash;
  while (first > from && bytes[first - 1] === BACKSLASH) first -= 1;
  // An odd number of backslashes: the last one begins an escape sequence.
  return (slash - first) % 2 === 0 ? slash : to;
}
