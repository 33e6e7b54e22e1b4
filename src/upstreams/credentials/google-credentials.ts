import type { AuthClient } from 'google-auth-library';
import { z } from 'zod';
import type { Credential, CredentialSource } from '../contract/credential.js';
import { credentialsUnavailable } from '../contract/provider-failure.js';

const Options = z.strictObject({
  scopes: z.array(z.string().min(1)).min(1).default(['https://www.googleapis.com/auth/cloud-platform']),
});
type GoogleOptions = z.infer<typeof Options>;

/** The address that the library uses for the keys of service accounts, whatever `token_uri` of the key file says. */
const TOKEN_URL = 'https://oauth2.googleapis.com/token';
const KeyFile = z.object({ token_uri: z.url() });

/**
 * Sends access tokens of Google: the Application Default Credentials, which are a key file, a workload identity federation, a login of
 * `gcloud`, or the metadata server.
 */
export class GoogleCredentials implements CredentialSource<GoogleOptions> {
  readonly kind = 'google';
  readonly options = Options;
  readonly packages = ['google-auth-library'] as const;

  async obtain({ scopes }: GoogleOptions): Promise<Credential> {
    const { GoogleAuth, JWT } = await import('google-auth-library');
    // A client keeps its token. A new one reads the files again and obtains a new token. It would also look for the project, which
    // nothing needs, with another request or with `gcloud`.
    const auth = new GoogleAuth({ scopes, projectId: 'unused' });
    const client = await auth.getClient();
    const tokenUrl = KeyFile.safeParse(auth.jsonContent).data?.token_uri ?? TOKEN_URL;
    if (tokenUrl !== TOKEN_URL) {
      sendTokenRequestsTo(client, tokenUrl);
      if (client instanceof JWT) client.additionalClaims = { aud: tokenUrl };
    }
    const sent = await client.getRequestHeaders();
    // Also has `x-goog-user-project`, if the credentials name a project for the quota.
    const headers = Object.fromEntries(sent.entries());
    if (headers.authorization === undefined) throw credentialsUnavailable('Google has returned no access token.');
    return { expiresAt: client.credentials.expiry_date ?? undefined, authorize: () => headers };
  }
}

function sendTokenRequestsTo({ transporter }: AuthClient, url: string): void {
  transporter.interceptors.request.add({
    resolved: (request) =>
      Promise.resolve(request.url.href === TOKEN_URL ? { ...request, url: new URL(url) } : request),
  });
}
