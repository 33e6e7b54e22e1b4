import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { HELLO } from '../../support/sse-client.js';

const HEAD_END = '\r\n\r\n';

/** One answer of several on a connection. */
export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** A connection that sends bytes as they are, also several requests at once. */
export class RawConnection {
  received = '';
  /** The other side has closed or cut the connection. */
  readonly closed: Promise<void>;

  private constructor(readonly socket: Socket) {
    this.closed = new Promise((resolve) => {
      socket.once('end', resolve).once('close', () => {
        resolve();
      });
    });
    socket.setEncoding('latin1').on('data', (text: string) => (this.received += text));
    // Whoever is cut off learns it from `closed`.
    socket.on('error', () => undefined);
  }

  /** A connection that can go on reading after it has said that it sends nothing more. */
  static async open(origin: string): Promise<RawConnection> {
    const { hostname, port } = new URL(origin);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  /** The same many times, all at once. */
  static openMany(origin: string, count: number): Promise<RawConnection[]> {
    return Promise.all(Array.from({ length: count }, () => RawConnection.open(origin)));
  }

  send(...requests: string[]): this {
    this.socket.write(requests.join(''), 'latin1');
    return this;
  }

  /** The answers that are here as a whole. */
  get answers(): RawAnswer[] {
    const answers: RawAnswer[] = [];
    let rest = this.received;
    for (let next = firstAnswer(rest); next !== undefined; next = firstAnswer(rest)) {
      answers.push(next.answer);
      rest = next.rest;
    }
    return answers;
  }

  leave(): void {
    this.socket.destroy();
  }
}

/** `POST /chat/stream`. */
export function streamRequest(key: string, content = 'Hello!', headers = ''): string {
  const body = JSON.stringify({ ...HELLO, messages: [{ role: 'user', content }] });
  return (
    `POST /api/v1/chat/stream HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`
  );
}

export function getRequest(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: test\r\n${headers}\r\n`;
}

function firstAnswer(text: string): { answer: RawAnswer; rest: string } | undefined {
  const headEnd = text.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const head = text.slice(0, headEnd);
  const status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
  const afterHead = text.slice(headEnd + HEAD_END.length);
  const framed = status === 100 ? { body: '', rest: afterHead } : takeBody(head, afterHead);
  return framed && { answer: { status, head, body: framed.body }, rest: framed.rest };
}

function takeBody(head: string, text: string): { body: string; rest: string } | undefined {
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (length === undefined) return takeChunks(text);
  if (text.length < Number(length)) return undefined;
  return { body: text.slice(0, Number(length)), rest: text.slice(Number(length)) };
}

function takeChunks(text: string): { body: string; rest: string } | undefined {
  let body = '';
  let at = 0;
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const size = parseInt(text.slice(at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (text.length < end) return undefined;
    body += text.slice(lineEnd + 2, end - 2);
    at = end;
    if (size === 0) return { body, rest: text.slice(at) };
  }
}
