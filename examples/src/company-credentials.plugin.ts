import {
  ChatPlugin,
  credentialsUnavailable,
  isText,
  parseJsonObject,
  type Credential,
  type CredentialContext,
  type CredentialSource,
  type UpstreamConfig,
  type UpstreamRequest,
} from 'chat-streaming-service';
import { createHmac } from 'node:crypto';
import { z } from 'zod';

const TokenOptions = z.strictObject({ token_url: z.url(), client: z.string().min(1), secret: z.string().min(1) });

/** A token of the company's own token service. The service keeps it until shortly before it expires. */
export class CompanyToken implements CredentialSource<z.infer<typeof TokenOptions>> {
  readonly kind = 'company-token';
  readonly options = TokenOptions;

  async obtain(
    { token_url: url, client, secret }: z.infer<typeof TokenOptions>,
    _: UpstreamConfig,
    { fetch }: CredentialContext,
  ): Promise<Credential> {
    const response = await fetch(url, { method: 'POST', body: new URLSearchParams({ client, secret }) });
    const { token, seconds } = parseJsonObject(await response.text()) ?? {};
    if (!response.ok || !isText(token) || typeof seconds !== 'number') {
      throw credentialsUnavailable('The token service gives no token.', { status: response.status });
    }
    return {
      expiresAt: Date.now() + seconds * 1_000,
      authorize: () => ({ authorization: `Bearer ${token}` }),
    };
  }
}

const SignerOptions = z.strictObject({ key_id: z.string().min(1), key: z.string().min(1) });

/** Signs the address, the time and the bytes of each request with a key. */
export class CompanySigner implements CredentialSource<z.infer<typeof SignerOptions>> {
  readonly kind = 'company-signer';
  readonly options = SignerOptions;

  obtain({ key_id: keyId, key }: z.infer<typeof SignerOptions>): Promise<Credential> {
    return Promise.resolve({ authorize: (request) => signed(request, keyId, key) });
  }
}

function signed({ method = 'POST', url, body }: UpstreamRequest, keyId: string, key: string) {
  const time = new Date().toISOString();
  const text = [method, url.pathname, time, body].join('\n');
  const signature = createHmac('sha256', key).update(text).digest('hex');
  return { 'x-time': time, authorization: `Signature ${keyId}:${signature}` };
}

@ChatPlugin({ name: 'company', compatibility: '^1', credentials: [CompanyToken, CompanySigner] })
export class CompanyPlugin {}
