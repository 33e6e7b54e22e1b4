import { Inject, Injectable } from '@nestjs/common';
import { ChatPlugin, PLUGIN_CONFIG, type LedgerRow, type UsageFeed } from 'chat-streaming-service';
import { createHmac } from 'node:crypto';
import { z } from 'zod';

const Config = z.strictObject({
  /** Where records are sent by POST. Without it, they wait. */
  url: z.url().optional(),
  /** The receiver checks the header X-Signature, the HMAC-SHA-256 of the body, with this secret. */
  secret: z.string().min(16).default('only for trying the examples'),
});

/** Sends every record to a webhook, at least once: also after restarts, and also the records of killed processes. */
@Injectable()
export class Webhook implements UsageFeed {
  readonly name = 'webhook';

  constructor(@Inject(PLUGIN_CONFIG) private readonly config: z.infer<typeof Config>) {}

  async deliver(records: readonly LedgerRow[], signal: AbortSignal): Promise<void> {
    const { url, secret } = this.config;
    if (url === undefined) throw new Error('The webhook has no URL yet.');
    const body = JSON.stringify({ records });
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-signature': signature };
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    if (!response.ok) throw new Error(`The webhook answered ${response.status}.`);
  }
}

@ChatPlugin({ name: 'webhook', compatibility: '^1', config: Config, usageFeeds: [Webhook] })
export class WebhookPlugin {}
