import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

export const WEBHOOK_SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;

export interface ReceivedEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
}

/** A receiver of webhooks, which checks signatures with the library of Standard Webhooks. */
export class WebhookReceiver {
  readonly requests: ReceivedRequest[] = [];
  /** The status of the next answers. `undefined`: no answer at all. */
  status: number | undefined = 204;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<WebhookReceiver> {
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        receiver.requests.push({ headers: request.headers, body, at: Date.now() });
        if (receiver.status === undefined) return;
        response.writeHead(receiver.status, { Location: '/elsewhere' }).end('x'.repeat(100_000));
      });
    });
    const receiver = new WebhookReceiver(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hooks`;
  }

  /** The entry in CONFIG_FILE. */
  get entry() {
    return { url: this.url, secret: WEBHOOK_SECRET, allowed_networks: ['127.0.0.0/8'] };
  }

  /** All events so far. @throws if a signature is invalid. */
  get events(): readonly ReceivedEvent[] {
    const webhook = new Webhook(WEBHOOK_SECRET);
    return this.requests.map(
      ({ body, headers }) => webhook.verify(body, headers as Record<string, string>) as ReceivedEvent,
    );
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
