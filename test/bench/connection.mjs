// An HTTP/1.1 client on a bare socket. It uses little CPU, so that on two cores the servers are the bottleneck, not the
// client.
import { connect } from 'node:net';

/**
 * A server, and what the requests to it have.
 *
 * @typedef {object} Target
 * @property {number} port
 * @property {string | undefined} key the API key
 * @property {boolean} [isOfNest] Nest alone writes its streams, without the corrections of the service
 * @property {boolean} [isOfCompletions] the requests go to `POST /chat/completions`
 * @property {boolean} [offersTools] the requests offer tools
 */

/** One connection that performs one exchange after another. */
export class Connection {
  #socket;
  #input = '';
  /** @type {{ onHead: (status: number) => void, onBody: (bytes: string) => void, settle: (whole: boolean) => void } | undefined} */
  #exchange;
  /** @type {'head' | 'length' | 'size' | 'chunk'} */
  #state = 'head';
  #left = 0;
  closed = false;

  /** @param {import('node:net').Socket} socket */
  constructor(socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    // Latin-1 has one character for each byte. It is cheap, and framing cannot split a code point. Later code decodes UTF-8
    // where it matters.
    socket.setEncoding('latin1');
    socket.on('data', (bytes) => {
      this.#input = this.#input === '' ? bytes : this.#input + bytes;
      this.#parse();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.closed = true;
      this.#settle(false);
    });
  }

  /**
   * @param {Target} target
   * @returns {Promise<Connection>}
   */
  static open({ port }) {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
    });
  }

  /**
   * @param {string} request
   * @param {{ onHead?: (status: number) => void, onBody?: (bytes: string) => void }} on
   * @returns {Promise<boolean>} whether the complete answer arrived
   */
  exchange(request, { onHead = () => {}, onBody = () => {} } = {}) {
    return new Promise((resolve) => {
      if (this.closed) {
        resolve(false);
        return;
      }
      this.#exchange = { onHead, onBody, settle: resolve };
      this.#socket.write(request);
    });
  }

  /** Stops reading. Everything that the server sends from now on fills the buffers between the server and this client. */
  pause() {
    this.#socket.pause();
  }

  resume() {
    this.#socket.resume();
  }

  close() {
    this.#socket.destroy();
  }

  #settle(whole) {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.#state = 'head';
    exchange?.settle(whole);
  }

  #parse() {
    const input = this.#input;
    let at = 0;
    while (this.#exchange !== undefined) {
      if (this.#state === 'head') {
        const end = input.indexOf('\r\n\r\n', at);
        if (end === -1) break;
        const head = input.slice(at, end + 2);
        at = end + 4;
        const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head);
        this.#left = Number(length?.[1] ?? 0);
        this.#state = length !== null ? 'length' : 'size';
        this.#exchange.onHead(Number(head.slice(9, 12)));
      } else if (this.#state === 'size') {
        const end = input.indexOf('\r\n', at);
        if (end === -1) break;
        this.#left = parseInt(input.slice(at, end), 16);
        at = end + 2;
        this.#state = 'chunk';
      } else if (this.#state === 'chunk') {
        if (input.length < at + this.#left + 2) break;
        const size = this.#left;
        if (size > 0) this.#exchange.onBody(input.slice(at, at + size));
        at += size + 2;
        this.#state = 'size';
        if (size === 0) this.#settle(true);
      } else {
        const part = input.slice(at, at + this.#left);
        at += part.length;
        this.#left -= part.length;
        if (part !== '') this.#exchange.onBody(part);
        if (this.#left > 0) break;
        this.#settle(true);
      }
    }
    this.#input = at === 0 ? input : input.slice(at);
  }
}
