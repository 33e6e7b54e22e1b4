import { sharedNow, STAMP_LENGTH, STAMPS } from './scripts.mjs';

/** Checks the events of one stream against the contract and the script. */
export class StreamCheck {
  chunks = 0;
  done = false;
  wrong;
  errorCode;
  firstChunkAt;
  #rest = '';
  #characters = 0;
  #stamps = 0;

  /**
   * @param {string} text the text that must arrive
   * @param {import('./scripts.mjs').Script} script
   * @param {((latencyMs: number, sentAt: number) => void) | undefined} onStamp
   * @param {boolean} hasIds whether events have an id. If Nest alone writes the stream, a blank line may stand in front of the id.
   */
  constructor(text, script, onStamp, hasIds) {
    this.hasIds = hasIds;
    this.text = text;
    this.script = script;
    this.onStamp = onStamp;
  }

  /** @param {string} bytes */
  feed(bytes) {
    const input = this.#rest === '' ? bytes : this.#rest + bytes;
    let at = 0;
    for (let end = input.indexOf('\n\n'); end !== -1; end = input.indexOf('\n\n', at)) {
      this.block(input.slice(at, end));
      at = end + 2;
    }
    this.#rest = input.slice(at);
  }

  get complete() {
    const whole =
      this.script.kind === 'paced' ? this.#stamps === this.script.events : this.#characters === this.text.length;
    return this.done && whole && this.wrong === undefined && this.#rest === '';
  }

  /** Checks one event. A format of its own overrides this method. */
  block(written) {
    const block = this.hasIds ? written.replace(/^\n?id: \S+\n/, '') : written;
    if (block === ': keep-alive') return;
    if (this.done || this.errorCode !== undefined) this.wrong ??= `after the end: ${block.slice(0, 80)}`;
    if (block.startsWith('event: error\ndata: ')) {
      this.errorCode = JSON.parse(block.slice('event: error\ndata: '.length)).error.code;
      return;
    }
    if (block === 'data: {"content":"","done":true}') {
      this.done = true;
      return;
    }
    const content = contentOf(block);
    if (content === '') {
      this.wrong ??= `not a chunk: ${block.slice(0, 80)}`;
      return;
    }
    this.add(content);
  }

  /** Checks the text of one chunk. */
  add(content) {
    this.chunks += 1;
    this.firstChunkAt ??= sharedNow();
    if (this.script.kind === 'paced') this.#readStamps(content);
    else if (this.text.startsWith(content, this.#characters)) this.#characters += content.length;
    else this.wrong ??= `text differs after ${this.#characters} characters`;
  }

  #readStamps(content) {
    const now = sharedNow();
    let length = 0;
    for (const [stamp, number, sentAt] of content.matchAll(STAMPS)) {
      if (Number(number) !== this.#stamps) this.wrong ??= `event ${number} in place of ${this.#stamps}`;
      this.#stamps += 1;
      length += stamp.length;
      this.onStamp?.(now - Number(sentAt), Number(sentAt));
    }
    if (length !== content.length || length % STAMP_LENGTH !== 0) this.wrong ??= `not stamps: ${content.slice(0, 80)}`;
  }
}

const CHUNK_START = 'data: {"content":"';
const CHUNK_END = '","done":false}';
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** @returns {string} the text of the chunk. Empty if the block is not a valid chunk. */
function contentOf(block) {
  if (!block.startsWith(CHUNK_START) || !block.endsWith(CHUNK_END)) return '';
  const content = block.slice(CHUNK_START.length, -CHUNK_END.length);
  if (PLAIN.test(content)) return content;
  const { content: parsed, ...others } = JSON.parse(Buffer.from(block.slice('data: '.length), 'latin1').toString());
  return Object.keys(others).join() === 'done' && typeof parsed === 'string' ? parsed : '';
}
