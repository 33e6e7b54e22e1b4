import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { UpstreamConfig } from '../../platform/config/config.js';
import type { Credential, CredentialContext, CredentialSource } from '../contract/credential.js';
import { credentialsUnavailable } from '../contract/provider-failure.js';

/** An empty text is an unset variable of the environment. */
const optional = z.string().default('');

const Options = z.strictObject({
  scope: z.string().min(1).default('https://cognitiveservices.azure.com/.default'),
  tenant_id: optional,
  client_id: optional,
  client_secret: optional,
  /** The path of a file with a token of the workload, which Kubernetes replaces from time to time. */
  federated_token_file: optional,
  authority_host: optional,
  imds_host: optional,
  identity_endpoint: optional,
  identity_header: optional,
});
type AzureOptions = z.infer<typeof Options>;

const AUTHORITY = 'https://login.microsoftonline.com';
const IMDS = 'http://169.254.169.254';
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** A number can be a text, as the endpoints of managed identities send it. */
const seconds = z.coerce.number().positive().optional();
const Token = z.object({
  access_token: z.string().min(1),
  /** How long the token is valid, in seconds. */
  expires_in: seconds,
  /** When the token expires, in seconds since 1970. */
  expires_on: seconds,
});
const Refusal = z.object({ error: z.string().regex(/^[a-z_]{1,40}$/) });

interface TokenRequest {
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams;
}

/**
 * Sends access tokens of Microsoft Entra ID. A client secret or a federated token is exchanged for a token if there is one. Otherwise the
 * managed identity of the machine is used. Looked up on 2026-11-26 at learn.microsoft.com: "OAuth 2.0 client credentials flow", "Use
 * managed identities on a virtual machine to acquire access token", and "Managed identities for App Service".
 */
export class AzureCredentials implements CredentialSource<AzureOptions> {
  readonly kind = 'azure';
  readonly options = Options;

  async obtain(options: AzureOptions, _: UpstreamConfig, { fetch }: CredentialContext): Promise<Credential> {
    const { url, headers = {}, body } = await tokenRequest(options);
    const sent = body === undefined ? { headers } : { method: 'POST', headers, body };
    const response = await fetch(url, { ...sent, redirect: 'error' });
    const json: unknown = await response.json().catch(() => undefined);
    const { data: token } = Token.safeParse(json);
    if (!response.ok || token === undefined) {
      const code = Refusal.safeParse(json).data?.error;
      const reason = `Entra ID gives no token: HTTP ${response.status} ${code ?? ''}`.trimEnd();
      throw credentialsUnavailable(reason, { status: response.status, code });
    }
    const authorized = { authorization: `Bearer ${token.access_token}` };
    return { expiresAt: expiryOf(token), authorize: () => authorized };
  }
}

async function tokenRequest(options: AzureOptions): Promise<TokenRequest> {
  const { tenant_id: tenant, client_id: client, client_secret: secret, federated_token_file: file, scope } = options;
  if (tenant === '' || client === '' || (secret === '' && file === '')) return managedIdentityRequest(options);
  // The file is read each time, because the token in it expires, too.
  const proof: Record<string, string> =
    secret === ''
      ? { client_assertion_type: ASSERTION_TYPE, client_assertion: (await readFile(file, 'utf8')).trim() }
      : { client_secret: secret };
  const authority = new URL(options.authority_host || AUTHORITY);
  authority.pathname = `/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: client, scope, ...proof });
  return { url: authority, body };
}

/** The machine has an endpoint without a key. App Service and Container Apps have an endpoint with a header of their own. */
function managedIdentityRequest(options: AzureOptions): TokenRequest {
  const { identity_endpoint: endpoint, identity_header: header, client_id: client, scope } = options;
  const isApp = endpoint !== '' && header !== '';
  const url = isApp ? new URL(endpoint) : new URL('/metadata/identity/oauth2/token', options.imds_host || IMDS);
  url.searchParams.set('api-version', isApp ? '2019-08-01' : '2018-02-01');
  url.searchParams.set('resource', scope.replace(/\/\.default$/, ''));
  if (client !== '') url.searchParams.set('client_id', client);
  return { url, headers: isApp ? { 'x-identity-header': header } : { metadata: 'true' } };
}

function expiryOf({ expires_in: lifetime, expires_on: at }: z.infer<typeof Token>): number | undefined {
  if (lifetime !== undefined) return Date.now() + lifetime * 1_000;
  return at === undefined ? undefined : at * 1_000;
}
