// How the relays of the bench read the provider: with undici's `dispatch`, without a stream object. What one read of the
// provider's socket brought is handed over at once.
import { StringDecoder } from 'node:string_decoder';
import { Pool } from 'undici';

const { origin, pathname } = new URL(process.env.PROVIDER_URL);
const path = `${pathname}/chat/completions`;
const pool = new Pool(origin, { connections: null, headersTimeout: 0, bodyTimeout: 0 });
const PROVIDER_HEADERS = { 'Content-Type': 'application/json' };

/**
 * @typedef {object} Reader
 * @property {() => void} onStart the provider has accepted the request
 * @property {(contents: string[]) => void} onContents the texts that one read has brought
 * @property {(contents: string[]) => void} onEnd the answer is complete, with its last texts
 * @property {() => void} onFailure
 */

/** One answer of the provider on its way to the client. */
export class Relayed {
  #reader;
  #controller;
  #decoder = new StringDecoder();
  /** What arrived since the last texts, and the part of an event before it. */
  #input = '';
  #readIsDue = false;
  #isComplete = false;
  #isStopped = false;

  /**
   * @param {{ model: string, messages: unknown, temperature?: number }} request
   * @param {Reader} reader
   */
  constructor({ model, messages, temperature = 0.7 }, reader) {
    this.#reader = reader;
    const body = JSON.stringify({ model: model.slice(model.indexOf('/') + 1), messages, temperature, stream: true });
    pool.dispatch({ method: 'POST', path, headers: PROVIDER_HEADERS, body }, this);
  }

  pause() {
    this.#controller?.pause();
  }

  resume() {
    this.#controller?.resume();
  }

  /** Must be called when the client leaves. */
  stop() {
    this.#isStopped = true;
    if (!this.#isComplete) this.#controller?.abort(new Error('The client left.'));
  }

  onRequestStart(controller) {
    this.#controller = controller;
    if (this.#isStopped) this.stop();
  }

  onResponseStart(controller, status) {
    if (status === 200) this.#reader.onStart();
    else controller.abort(new Error(`The provider answered ${status}.`));
  }

  // One read can bring several chunks. The microtask runs when undici has parsed all of the read.
  onResponseData(_controller, chunk) {
    this.#input += this.#decoder.write(chunk);
    if (this.#readIsDue) return;
    this.#readIsDue = true;
    queueMicrotask(() => {
      this.#readIsDue = false;
      const contents = this.#contents();
      if (contents.length > 0) this.#reader.onContents(contents);
    });
  }

  onResponseEnd() {
    const contents = this.#contents();
    if (this.#isComplete) this.#reader.onEnd(contents);
    else this.#reader.onFailure();
  }

  onResponseError() {
    this.#reader.onFailure();
  }

  /** Takes the complete events of the input, and returns their texts. */
  #contents() {
    const input = this.#input;
    const contents = [];
    let start = 0;
    for (let end = input.indexOf('\n\n'); end !== -1; end = input.indexOf('\n\n', start)) {
      const payload = input.slice(start + 'data: '.length, end);
      start = end + 2;
      if (payload === '[DONE]') {
        this.#isComplete = true;
        continue;
      }
      const content = JSON.parse(payload).choices[0]?.delta.content;
      if (content) contents.push(content);
    }
    this.#input = input.slice(start);
    return contents;
  }
}
