import { once } from 'node:events';
import {
  Agent,
  request as httpRequest,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import type { ErrorBody } from '../../src/platform/http/errors/send-error.js';
import { MODEL } from './catalog.js';
import { waitFor } from './wait-for.js';

const STREAM_PATH = '/api/v1/chat/stream';
const BLANK_LINE = '\n\n';
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/** One block of the stream, without the blank line at its end. */
export interface Block {
  readonly text: string;
  /** The time at which the last byte arrived (`performance.now()`). */
  readonly at: number;
}

export interface StreamOptions {
  readonly key?: string | undefined;
  /**
   * Members that are added to a small default request, or replace its members. A member that is `undefined` is left out. A
   * string or a buffer is sent unchanged.
   */
  readonly body?: object | string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly method?: string;
  readonly agent?: Agent;
}

export const HELLO = { model: MODEL, messages: [{ role: 'user', content: 'Hello!' }] } as const;

/** The answer to a request, with its bytes as they arrived. */
export class ReceivedStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly headersAt = performance.now();
  readonly blocks: Block[] = [];
  /** Resolves at the end of the body: `ended` for a complete HTTP body, `cut` for a body that broke off. */
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

  /** All text received so far. */
  get raw(): string {
    return Buffer.concat(this.received).toString('utf8');
  }

  /** Waits for the end of the body, and returns the whole body. */
  async body(): Promise<string> {
    await this.over;
    return this.raw;
  }

  async error(): Promise<ErrorBody['error']> {
    return (JSON.parse(await this.body()) as ErrorBody).error;
  }

  /** Waits for the n-th block and returns it. Numbers start at 1. */
  async block(number: number, limitMs?: number): Promise<Block> {
    return waitFor(() => this.blocks[number - 1], `block ${number} of the stream`, limitMs);
  }

  /** Stops reading, so that the bytes accumulate between the service and this client. */
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
    // The framing is ASCII. Latin-1 has one character for each byte, so a code point split between two reads does no harm.
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
  // A test that leaves does not await the answer. Without this handler, the rejection would be unhandled.
  answer.catch(() => undefined);
  request.on('error', () => undefined);
  return { answer, leave: () => request.destroy() };
}

/** Sends the request and waits for the status and headers of the answer. */
export async function openStream(origin: string, options: StreamOptions = {}): Promise<ReceivedStream> {
  return startStream(origin, options).answer;
}

/** Sends the request and waits for the end of the answer. */
export async function stream(origin: string, options: StreamOptions = {}): Promise<ReceivedStream> {
  const received = await openStream(origin, options);
  await received.over;
  return received;
}

/** Sends a GET request and waits for the end of the answer. */
export async function get(
  origin: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ReceivedStream> {
  return stream(origin, { method: 'GET', path, headers });
}
