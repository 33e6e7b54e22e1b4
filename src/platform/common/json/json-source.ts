import { randomBytes } from 'node:crypto';
import { Steps } from '../event-loop/event-loop-turns.js';
import { textPieces } from '../text/cut-text.js';

/**
 * Keeps the JSON text of objects, because `JSON.parse` loses what it cannot hold: digits of long numbers, `1.0`, `-0`, members named
 * twice, and the order of members with names like numbers.
 */
const SOURCES = new WeakMap<object, string>();

/** Marks JSON text inside of texts. Random, so that no text of others contains it. */
const MARK = `json:${randomBytes(16).toString('hex')}:`;
const MARKED = new RegExp(`"${MARK}((?:[^"\\\\]|\\\\.)*)"`, 'g');

/** Matches texts and numbers of JSON. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;

/** The names of the members whose text is kept: schemas, and arguments of tool calls. */
const NAMES = ['parameters', 'input_schema', 'schema', 'input', 'arguments', 'args', 'partial_json'];
const KEPT: ReadonlySet<string> = new Set(NAMES);
const HAS_KEPT = new RegExp(`"(?:${NAMES.join('|')})"\\s*:\\s*[[{]`);

/** JSON text that {@link stringifyWithSources} writes as it is. */
class JsonText {
  constructor(readonly text: () => string) {}

  toJSON(): string {
    marks += 1;
    return MARK + this.text();
  }
}

/** Texts that are written as one text, each on a line of its own, without making that text. */
class JoinedTexts {
  constructor(readonly texts: readonly string[]) {}

  toJSON(): string {
    return this.texts.join('\n');
  }
}

/** The number of marks that were written. To search for them in a body of 32 MiB takes 10 ms. */
let marks = 0;

/** Returns a value for {@link stringifyWithSources} that stands for this JSON text. The text may be made when it is written. */
export function rawJson(text: string | (() => string)): object {
  return new JsonText(typeof text === 'string' ? () => text : text);
}

/**
 * Returns the texts as one, each on a line of its own: a string, or a value that stands for the string in JSON if it is long. To join 32 MiB
 * takes 100 ms.
 */
export function joinedForJson(texts: readonly string[]): string | object {
  let length = 0;
  for (const text of texts) length += text.length;
  return length > PIECE ? new JoinedTexts(texts) : texts.join('\n');
}

/** Returns the JSON text of an object: as it arrived if {@link keepSources} has kept it. */
export function jsonSource(value: object): string {
  return SOURCES.get(value) ?? JSON.stringify(value);
}

/** Returns an object so that {@link stringifyWithSources} writes it as it arrived. */
export function asArrived(value: object): object {
  const source = SOURCES.get(value);
  return source === undefined ? value : rawJson(source);
}

/**
 * Parses JSON so that {@link stringifyExactNumbers} writes each number as it stands in the text. A number that `JSON.parse` would change
 * becomes a text with a mark.
 */
export function parseExactNumbers(text: string): unknown {
  const marked = text.replaceAll(TOKENS, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : `"${MARK}${token}"`,
  );
  return JSON.parse(marked);
}

/** Whether a value of {@link parseExactNumbers} is a number that a number of JavaScript cannot hold. */
export function isExactNumber(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(MARK);
}

/** Returns the text of a number of {@link parseExactNumbers}. */
export function exactNumberText(value: string): string {
  return value.slice(MARK.length);
}

/** Writes a value as JSON, with the texts of {@link rawJson} and {@link asArrived} in their places. */
export function stringifyWithSources(value: unknown): string {
  const before = marks;
  const json = JSON.stringify(value);
  return marks === before ? json : withoutMarks(json);
}

/** A longer text is written in pieces, and a shorter object in one go. In UTF-16 units. */
const PIECE = 64 * 1024;

/**
 * Returns the JSON of {@link stringifyWithSources} in UTF-8, in pieces. It is made in steps: the JSON of 32 MiB would stop all
 * streams.
 */
export async function encodeInSteps(value: unknown): Promise<readonly Buffer[]> {
  const steps = new Steps();
  const pieces: Buffer[] = [];
  let piece = '';
  for (const token of tokensOf(value)) {
    piece += token;
    if (piece.length < PIECE) continue;
    pieces.push(Buffer.from(piece));
    piece = '';
    if (steps.isOver) await steps.next();
  }
  pieces.push(Buffer.from(piece));
  return pieces;
}

/** Whether the JSON of a value is longer. Costs no more than `max` units of JSON. */
export function isJsonLonger(value: unknown, max: number): boolean {
  let length = 0;
  for (const token of tokensOf(value)) {
    length += token.length;
    if (length > max) return true;
  }
  return false;
}

function* tokensOf(value: unknown): Generator<string, void> {
  if (value instanceof JsonText) yield value.text();
  else if (value instanceof JoinedTexts) yield* tokensOfTexts(value.texts);
  else if (typeof value === 'string' && value.length > PIECE) yield* tokensOfTexts([value]);
  else if (typeof value !== 'object' || value === null || isShort(value)) yield JSON.stringify(value);
  else if (Array.isArray(value)) {
    let before = '[';
    for (const item of value as readonly unknown[]) {
      yield before;
      before = ',';
      yield* tokensOf(item ?? null);
    }
    yield before === '[' ? '[]' : ']';
  } else {
    let before = '{';
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      before = ',';
      yield* tokensOf(member);
    }
    yield before === '{' ? '{}' : '}';
  }
}

/** Yields the JSON of one text, with each of the texts on a line of its own. */
function* tokensOfTexts(texts: readonly string[]): Generator<string, void> {
  let before = '"';
  for (const text of texts) {
    yield before;
    before = '\\n';
    for (const piece of textPieces(text, PIECE)) yield JSON.stringify(piece).slice(1, -1);
  }
  yield '"';
}

/** Whether an object has only numbers, names and other short texts, which are most objects of a conversation. */
function isShort(value: object): boolean {
  let length = 0;
  for (const member of Object.values(value) as unknown[]) {
    if (typeof member === 'object' && member !== null) return false;
    if (typeof member === 'string') length += member.length;
  }
  return length < PIECE && !(Symbol.iterator in value);
}

/** Writes a value of {@link parseExactNumbers} as JSON. */
export function stringifyExactNumbers(value: unknown): string {
  return withoutMarks(JSON.stringify(value));
}

function withoutMarks(json: string): string {
  return json.replaceAll(MARKED, (_, escaped: string) => JSON.parse(`"${escaped}"`) as string);
}

/**
 * Keeps the text of schemas and of arguments of tool calls, the objects in `value` that {@link KEPT} names.
 *
 * @param value what `JSON.parse` has returned for the text.
 */
export function keepSources(text: string, value: unknown, { name, keepsAll = false }: KeepOptions = {}): void {
  if (isSourceKept(name) || HAS_KEPT.test(text)) new SourceReader(text, keepsAll).read(value, name);
}

interface KeepOptions {
  /** Of the member with the value. */
  readonly name?: string | undefined;
  /** Whether texts are kept that `JSON.stringify` would make again. */
  readonly keepsAll?: boolean;
}

/** Keeps the text of one object. */
export function keepSource(value: object, text: string): void {
  SOURCES.set(value, text);
}

/** Whether the texts of members with this name are kept. */
export function isSourceKept(name: string | undefined): boolean {
  return name !== undefined && KEPT.has(name);
}

/** Goes through a valid JSON text and its value at the same time. */
class SourceReader {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly keepsAll: boolean,
  ) {}

  read(value: unknown, name?: string): void {
    this.skipSpace();
    const start = this.at;
    const first = this.text[start];
    if (first === '{') this.readObject(value);
    else if (first === '[') this.readArray(value);
    else this.skipScalar();
    if (!isSourceKept(name) || typeof value !== 'object' || value === null) return;
    const source = this.text.slice(start, this.at);
    // A copy: a slice would keep the whole text in memory.
    if (this.keepsAll || source !== JSON.stringify(value)) SOURCES.set(value, Buffer.from(source).toString());
    else SOURCES.delete(value);
  }

  private readObject(value: unknown): void {
    this.at += 1;
    this.skipSpace();
    while (this.text[this.at] !== '}') {
      const start = this.at;
      this.skipText();
      const name = JSON.parse(this.text.slice(start, this.at)) as string;
      this.skipSpace();
      this.at += 1;
      this.read(memberOf(value, name), name);
      this.skipComma();
    }
    this.at += 1;
  }

  private readArray(value: unknown): void {
    this.at += 1;
    this.skipSpace();
    for (let index = 0; this.text[this.at] !== ']'; index += 1) {
      this.read(Array.isArray(value) ? value[index] : undefined);
      this.skipComma();
    }
    this.at += 1;
  }

  private skipComma(): void {
    this.skipSpace();
    if (this.text[this.at] === ',') this.at += 1;
    this.skipSpace();
  }

  private skipSpace(): void {
    while (' \t\n\r'.includes(this.text[this.at] ?? '.')) this.at += 1;
  }

  private skipText(): void {
    let end = this.text.indexOf('"', this.at + 1);
    while (isEscaped(this.text, end)) end = this.text.indexOf('"', end + 1);
    this.at = end + 1;
  }

  private skipScalar(): void {
    if (this.text[this.at] === '"') this.skipText();
    else {
      SCALAR.lastIndex = this.at;
      this.at += SCALAR.exec(this.text)?.[0].length ?? 1;
    }
  }
}

const SCALAR = /[^\s,\]}]+/y;

/** Whether an odd number of backslashes stands before the quote. */
function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text[before] === '\\') before -= 1;
  return (quote - before) % 2 === 0;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
