import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { openAi, type Dialect } from './dialects.js';
import { ProviderCall } from './provider-call.js';
import { waitFor } from '../wait-for.js';

/**
 * Answers one request. If the script returns without ending the answer, the request stays open.
 *
 * @since 1.0
 */
export type Script = (call: ProviderCall) => void | Promise<void>;

/**
 * A provider at a free port of `127.0.0.1` that answers each request with a script of the test. Stop it at the end of the test.
 *
 * @since 1.0
 */
export class ScriptedProvider {
  /** The requests that arrived, in order. */
  readonly calls: ProviderCall[] = [];
  /** The number of connections that the service has opened. */
  connections = 0;
  private readonly sockets = new Set<Socket>();
  private readonly queued: Script[] = [];
  private usual: Script = (call) => {
    call.answer('Hello', ' world');
  };

  private constructor(
    private readonly server: Server,
    readonly dialect: Dialect,
  ) {
    const numbers = new WeakMap<Socket, number>();
    server.on('connection', (socket) => {
      numbers.set(socket, ++this.connections);
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket)).on('error', () => undefined);
    });
    server.on('request', (request, response) => {
      void (async () => {
        const body = await text(request).catch(() => undefined);
        if (body === undefined) return;
        const own = dialect.forAnswer?.() ?? dialect;
        const call = new ProviderCall(request, response, own, numbers.get(request.socket) ?? 0, body);
        this.calls.push(call);
        await (this.queued.shift() ?? this.usual)(call);
      })();
    });
  }

  /** Starts a provider. By default it speaks the protocol of OpenAI, and answers with `Hello world`. */
  static async start(dialect: Dialect = openAi): Promise<ScriptedProvider> {
    const server = createServer({ keepAliveTimeout: 60_000, noDelay: true });
    const provider = new ScriptedProvider(server, dialect);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return provider;
  }

  /** The scheme, host and port, such as `http://127.0.0.1:49152`. */
  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Ends each connection after one answer, so that no request is sent again because its reused connection was closed. */
  closesConnections(): this {
    this.server.maxRequestsPerSocket = 1;
    return this;
  }

  /** Sets the script for every later request. Scripts given to {@link next} have priority. */
  answers(script: Script): this {
    this.usual = script;
    return this;
  }

  /**
   * Adds scripts to the queue. Each script answers one request, in order. For a protocol with several requests, the order is that of
   * the requests: `next((call) => call.reply({ id: 'job-1' }), (call) => call.answer('Hello'))`.
   */
  next(...scripts: Script[]): this {
    this.queued.push(...scripts);
    return this;
  }

  /** Waits for the n-th request and returns it. Numbers start at 1. */
  async call(number: number): Promise<ProviderCall> {
    return waitFor(() => this.calls[number - 1], `request ${number} at the provider`);
  }

  /** Closes all connections and stops listening. */
  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }
}
