import { once } from 'node:events';
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { get } from './sse-client.js';

const READY = '/api/v1/health/ready';
const PROBE_EVERY_MS = 100;
const PROBES_TO_FAIL = 3;

interface Upstream {
  readonly origin: string;
  readonly agent: Agent;
  isReady: boolean;
  failedProbes: number;
}

/**
 * A proxy that sends requests to the ready upstreams in turn, like an ingress. It keeps its connections to the upstreams open,
 * and never retries a request.
 */
export class RoundRobinProxy {
  /** The reasons why requests got no answer from an upstream, one entry for each request. */
  readonly failures: string[] = [];
  private readonly upstreams = new Set<Upstream>();
  private turn = 0;
  private readonly probing: NodeJS.Timeout;

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      this.forward(request, response);
    });
    this.probing = setInterval(() => {
      for (const upstream of this.upstreams) void this.probe(upstream);
    }, PROBE_EVERY_MS);
  }

  static async start(): Promise<RoundRobinProxy> {
    const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new RoundRobinProxy(server);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The origins of the upstreams that get requests now. */
  get ready(): readonly string[] {
    return this.inTurn.map(({ origin }) => origin);
  }

  /** Adds an upstream. The upstream gets requests after its first successful readiness probe. */
  add(origin: string): void {
    this.upstreams.add({ origin, agent: new Agent({ keepAlive: true }), isReady: false, failedProbes: 0 });
  }

  /** Removes an upstream. The upstream gets no new requests, and its running requests continue. */
  retire(origin: string): void {
    for (const upstream of this.upstreams) if (upstream.origin === origin) this.upstreams.delete(upstream);
  }

  async stop(): Promise<void> {
    clearInterval(this.probing);
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
    for (const { agent } of this.upstreams) agent.destroy();
  }

  private get inTurn(): readonly Upstream[] {
    return [...this.upstreams].filter(({ isReady }) => isReady);
  }

  private async probe(upstream: Upstream): Promise<void> {
    const isReady = await get(upstream.origin, READY).then(
      ({ status }) => status === 200,
      () => false,
    );
    upstream.failedProbes = isReady ? 0 : upstream.failedProbes + 1;
    if (isReady || upstream.failedProbes >= PROBES_TO_FAIL) upstream.isReady = isReady;
  }

  private forward(request: IncomingMessage, response: ServerResponse): void {
    const upstreams = this.inTurn;
    const upstream = upstreams[this.turn++ % upstreams.length];
    if (upstream === undefined) {
      this.fail(response, 503, 'no upstream is ready');
      return;
    }
    const { method, url = '/' } = request;
    // The header applies only to the connection of the client, not to the connection to the upstream.
    const headers = { ...request.headers };
    delete headers.connection;
    const forwarded = httpRequest(upstream.origin + url, { method, headers, agent: upstream.agent });
    forwarded
      .on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        // If the upstream breaks off, the client must see a broken connection, not a normal end.
        answer.on('error', () => undefined).on('aborted', () => response.destroy());
        answer.pipe(response);
      })
      .on('error', ({ message }) => {
        if (response.headersSent) response.destroy();
        else this.fail(response, 502, message);
      });
    response.on('close', () => {
      if (!response.writableFinished) forwarded.destroy();
    });
    request.pipe(forwarded);
  }

  private fail(response: ServerResponse, status: number, reason: string): void {
    this.failures.push(reason);
    response.writeHead(status).end(JSON.stringify({ error: { code: 'proxy', message: reason } }));
  }
}
