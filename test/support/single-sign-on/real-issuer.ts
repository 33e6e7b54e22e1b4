import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';
import { CLIENT_ID, CLIENT_SECRET } from './scripted-issuer.js';
import { LOGOUT, START } from './sign-on-stage.js';

/** The people of the issuer, by the name with which they sign in. */
export type People = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** `oidc-provider`, the certified implementation of an issuer, with a form that asks for a name. */
export class RealIssuer {
  private constructor(
    readonly url: string,
    private readonly server: Server,
  ) {}

  static async start(publicUrl: string, people: People): Promise<RealIssuer> {
    const server = createServer();
    server.listen(0, 'localhost');
    await once(server, 'listening');
    const url = `http://localhost:${(server.address() as AddressInfo).port}`;
    const provider = new Provider(url, configurationOf(publicUrl, people));
    const others = provider.callback();
    server.on('request', (request, response) => {
      if (request.url?.startsWith('/interaction/') === true) interact(provider, request, response);
      else void others(request, response);
    });
    return new RealIssuer(url, server);
  }

  env(publicUrl: string): Record<string, string> {
    return {
      PUBLIC_URL: publicUrl,
      OIDC_ISSUER: this.url,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: CLIENT_SECRET,
    };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

function configurationOf(publicUrl: string, people: People): Configuration {
  return {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [`${publicUrl}${START}/callback`],
        post_logout_redirect_uris: [`${publicUrl}/sign-in`],
        backchannel_logout_uri: `${publicUrl}${LOGOUT}`,
        backchannel_logout_session_required: true,
      },
    ],
    // As the standard says: only UserInfo has the claims of the scopes.
    conformIdTokenClaims: true,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups', 'tier'] },
    // Its own one calls no address of this machine.
    fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined } as RequestInit),
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    cookies: { keys: ['a key of this test'] },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        postLogoutSuccessSource: (context) => {
          context.body = '<!doctype html><title>Signed out</title>';
        },
        logoutSource: (context, form) => {
          context.body = `<!doctype html><title>Sign out</title>${form}<button form="op.logoutForm" name="logout" value="yes">Sign out everywhere</button>`;
        },
      },
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => {
      const claims = people[sub];
      return claims && { accountId: sub, claims: () => ({ sub, ...claims }) };
    },
    // Nobody is asked whether this service may know the claims.
    async loadExistingGrant({ oidc }) {
      const { client, session, provider } = oidc;
      const grant = new provider.Grant({ clientId: client?.clientId, accountId: session?.accountId });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
  };
}

/** Shows a form for the name, and finishes the sign-in when the form is sent. */
function interact(provider: Provider, request: IncomingMessage, response: ServerResponse): void {
  const run = async () => {
    if (request.method !== 'POST') {
      response.writeHead(200, { 'Content-Type': 'text/html' });
      response.end(
        '<!doctype html><title>Sign in</title><form method="post"><label>Name <input name="name"></label><button name="do" value="in">Go on</button><button name="do" value="cancel">Cancel</button></form>',
      );
      return;
    }
    let body = '';
    for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString();
    const form = new URLSearchParams(body);
    const result =
      form.get('do') === 'cancel'
        ? { error: 'access_denied', error_description: 'The person has cancelled.' }
        : { login: { accountId: form.get('name') ?? '' } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  };
  run().catch((error: unknown) => {
    response.writeHead(500).end(String(error));
  });
}
