import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface AcmeRequest {
  readonly path: string | undefined;
  readonly key: string | string[] | undefined;
  readonly body: unknown;
}

/** The provider whose protocol the example brings. */
export class AcmeProvider {
  readonly requests: AcmeRequest[] = [];
  /** The body of every answer. */
  events = '';

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      void text(request).then((body) => {
        this.requests.push({
          path: request.url,
          key: request.headers['x-acme-key'],
          body: JSON.parse(body) as unknown,
        });
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(this.events);
      });
    });
  }

  static async start(): Promise<AcmeProvider> {
    const provider = new AcmeProvider(createServer());
    provider.server.listen(0, '127.0.0.1');
    await once(provider.server, 'listening');
    return provider;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v2/`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
