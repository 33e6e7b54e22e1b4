import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { openAi, type Dialect } from './dialects.js';
import { VendorCall } from './vendor-call.js';
import { waitFor } from './wait-for.js';

/** How one request is answered. A script that returns without an end leaves the request hanging. */
export type Script = (call: VendorCall) => void | Promise<void>;

/** A vendor that does what the test says. */
export class ScriptedVendor {
  /** Those that arrived, in order. */
  readonly calls: VendorCall[] = [];
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
        const call = new VendorCall(request, response, this.dialect, numbers.get(request.socket) ?? 0, body);
        this.calls.push(call);
        await (this.queued.shift() ?? this.usual)(call);
      })();
    });
  }

  static async start(dialect: Dialect = openAi): Promise<ScriptedVendor> {
    const server = createServer({ keepAliveTimeout: 60_000, noDelay: true });
    const vendor = new ScriptedVendor(server, dialect);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return vendor;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Ends each connection after one answer, so that no request is sent again for having met a closed one. */
  closesConnections(): this {
    this.server.maxRequestsPerSocket = 1;
    return this;
  }

  /** Answers every request from now on, but for those that {@link next} speaks of. */
  answers(script: Script): this {
    this.usual = script;
    return this;
  }

  /** Answers one request each, in order. */
  next(...scripts: Script[]): this {
    this.queued.push(...scripts);
    return this;
  }

  /** The n-th request, once it is there; the first is number 1. */
  async call(number: number): Promise<VendorCall> {
    return waitFor(() => this.calls[number - 1], `request ${number} at the vendor`);
  }

  /** Nothing listens at the address any more. */
  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }
}
