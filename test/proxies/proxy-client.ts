import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { HELLO } from '../support/sse-client.js';
import type { RunningProxy } from './proxies.js';

/** An answer that arrives. */
export interface ProxyAnswer {
  readonly stream: ClientHttp2Stream;
  status: number;
  text: string;
  isOver: boolean;
}

/** A connection over HTTP/2 to a proxy. */
export class ProxyClient {
  private readonly session: ClientHttp2Session;

  constructor({ origin }: RunningProxy) {
    this.session = connect(origin, { rejectUnauthorized: false });
    this.session.on('error', () => undefined);
  }

  /** Sends a request, and collects its answer. */
  send(method: string, path: string, headers: Readonly<Record<string, string>>, body?: string): ProxyAnswer {
    const stream = this.session.request({ ':method': method, ':path': path, ...headers });
    const answer = { stream, status: 0, text: '', isOver: false };
    stream.setEncoding('utf8');
    stream.on('response', (received) => (answer.status = Number(received[':status'])));
    stream.on('data', (text: string) => (answer.text += text));
    stream.on('error', () => undefined);
    stream.on('close', () => (answer.isOver = true));
    stream.end(body);
    return answer;
  }

  /** Requests a stream. */
  ask(key: string, body: object = {}): ProxyAnswer {
    return this.send(
      'POST',
      '/api/v1/chat/stream',
      { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      JSON.stringify({ ...HELLO, ...body }),
    );
  }

  close(): void {
    this.session.destroy();
  }
}
