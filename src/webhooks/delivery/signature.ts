import { createHmac } from 'node:crypto';

/**
 * Returns the headers with which a receiver checks an event, as Standard Webhooks defines them: the HMAC-SHA256 of the id, the time
 * and the body.
 *
 * @param sentAt in milliseconds since 1970.
 */
export function signedHeaders(secret: Buffer, id: string, sentAt: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(sentAt / 1000));
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
