import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface UploadOptions {
  /** By default a chat request. */
  readonly path?: string;
  readonly type?: string;
  /** The promised length of the body. */
  readonly length?: number;
  /** The body is written with its framing, and has no promised length. */
  readonly chunked?: boolean;
}

/** A request whose body is sent by hand. */
export class Upload {
  /** Resolves with the first bytes of the answer, or when the connection is closed. */
  readonly answered: Promise<void>;
  readonly closed: Promise<void>;
  private received = '';

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('latin1').on('error', () => undefined);
    socket.on('data', (text: string) => (this.received += text));
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        resolve();
      });
    });
    const first = once(socket, 'data').then(
      () => undefined,
      () => undefined,
    );
    this.answered = Promise.race([first, this.closed]);
  }

  static async start(origin: string, key: string | undefined, options: UploadOptions = {}): Promise<Upload> {
    const { path = '/api/v1/chat/stream', type = 'application/json', length = 0, chunked = false } = options;
    const { hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname);
    const upload = new Upload(socket);
    await once(socket, 'connect');
    const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`;
    const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\n${authorization}Content-Type: ${type}\r\n${framing}\r\n\r\n`,
    );
    return upload;
  }

  /** Sends bytes. Resolves when the system has taken them all, or the connection is closed. */
  async write(bytes: string | Buffer): Promise<void> {
    await Promise.race([this.closed, new Promise((resolve) => this.socket.write(bytes, resolve))]);
  }

  /** Of the answer, once it has begun. */
  get status(): number | undefined {
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(this.received)?.[1];
    return status === undefined ? undefined : Number(status);
  }

  /** The head and the body of the answer, as far as they are there. */
  get answer(): string {
    return this.received;
  }

  get isClosed(): boolean {
    return this.socket.destroyed;
  }

  leave(): void {
    this.socket.destroy();
  }
}
