import { once } from 'node:events';
import {
  Agent,
  request as httpRequest,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import type { ErrorBody } from '../../src/http/errors/error-body.js';
import { MODEL } from './catalog.js';
import { waitFor } from './wait-for.js';

const STREAM_PATH = '/api/v1/chat/stream';
const BLANK_LINE = '\n\n';
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/** One block of the stream, without the blank line that ends it. */
export interface Block {
  readonly text: string;
  /** `performance.now()` when its last byte came. */
  readonly at: number;
}

export interface StreamOptions {
  readonly key?: string | undefined;
  /** Members over those of a small request; `undefined` leaves one out. A text is sent as it is. */
  readonly body?: object | string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly method?: string;
  readonly agent?: Agent;
}

export const HELLO = { model: MODEL, messages: [{ role: 'user', content: 'Hello!' }] } as const;

/** The answer to a request: its bytes as they came. */
export class ReceivedStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly headersAt = performance.now();
  readonly blocks: Block[] = [];
  /** Resolves when the body is over: ended as HTTP says, or cut off. */
  readonly over: Promise<'ended' | 'cut'>;
  private readonly received: Buffer[] = [];
  private unread = '';
  receivedBytes = 0;

  constructor(
    private readonly response: IncomingMessage,
    private readonly request: ClientRequest,
  ) {
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.over = new Promise((resolve) => {
      response
        .on('error', () => undefined)
        .on('close', () => {
          resolve(response.complete ? 'ended' : 'cut');
        });
    });
    response.on('data', (bytes: Buffer) => {
      this.take(bytes);
    });
  }

  /** All that came so far. */
  get raw(): string {
    return Buffer.concat(this.received).toString('utf8');
  }

  /** The whole body, once it is over. */
  async body(): Promise<string> {
    await this.over;
    return this.raw;
  }

  async error(): Promise<ErrorBody['error']> {
    return (JSON.parse(await this.body()) as ErrorBody).error;
  }

  /** The n-th block, once it is there; the first is number 1. */
  async block(number: number, limitMs?: number): Promise<Block> {
    return waitFor(() => this.blocks[number - 1], `block ${number} of the stream`, limitMs);
  }

  /** Reads nothing any more, so that the bytes pile up on the way. */
  pause(): void {
    this.response.pause();
  }

  resume(): void {
    this.response.resume();
  }

  /** Closes the connection. */
  leave(): void {
    this.request.destroy();
  }

  private take(bytes: Buffer): void {
    this.received.push(bytes);
    this.receivedBytes += bytes.length;
    const at = performance.now();
    // Framing is ASCII: byte by character, so that a split code point does no harm.
    const parts = (this.unread + bytes.toString('latin1')).split(BLANK_LINE);
    this.unread = parts.pop() ?? '';
    for (const part of parts) this.blocks.push({ text: Buffer.from(part, 'latin1').toString('utf8'), at });
  }
}

/** A request whose answer has not begun. */
export interface PendingStream {
  readonly answer: Promise<ReceivedStream>;
  leave(): void;
}

/** Sends the request. */
export function startStream(origin: string, options: StreamOptions = {}): PendingStream {
  const { key, body = {}, headers = {}, path = STREAM_PATH, method = 'POST', agent = false } = options;
  const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify({ ...HELLO, ...body });
  const request = httpRequest(origin + path, {
    method,
    agent,
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...headers,
    },
  });
  request.end(METHODS_WITH_BODY.has(method) ? payload : undefined);
  const answer = once(request, 'response').then(
    ([response]) => new ReceivedStream(response as IncomingMessage, request),
  );
  // Whoever leaves need not wait.
  answer.catch(() => undefined);
  request.on('error', () => undefined);
  return { answer, leave: () => request.destroy() };
}

/** Sends the request and waits for the head of the answer. */
export async function openStream(origin: string, options: StreamOptions = {}): Promise<ReceivedStream> {
  return startStream(origin, options).answer;
}

/** Sends the request and waits for the end of the answer. */
export async function stream(origin: string, options: StreamOptions = {}): Promise<ReceivedStream> {
  const received = await openStream(origin, options);
  await received.over;
  return received;
}

/** A GET of another path. */
export async function get(
  origin: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ReceivedStream> {
  return stream(origin, { method: 'GET', path, headers });
}
