import { createHash, randomUUID, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';

export const CLIENT_ID = 'chat';
export const CLIENT_SECRET = 'a secret of this test';
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

export type Claims = Readonly<Record<string, unknown>>;

interface Authorization {
  readonly nonce: string;
  readonly challenge: string;
  readonly redirectUri: string;
  readonly claims: Claims;
}

interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey | KeyObject;
  readonly publicKey: JWK;
}

/** An issuer of OpenID Connect that a test can make fail in any way. It checks what the service sends. */
export class ScriptedIssuer {
  /** The path of each request, in order. */
  readonly requests: string[] = [];
  /** Claims over those of the ID token; `undefined` leaves one out. */
  idToken: Claims = {};
  /** Members over those of the metadata. */
  metadata: Claims = {};
  /** Claims of the UserInfo endpoint in addition to `sub`. */
  userInfo: Claims = {};
  /** Answers instead of the issuer, by path. Never to answer is to hang. */
  readonly instead = new Map<string, (response: ServerResponse) => void>();
  private readonly codes = new Map<string, Authorization>();
  private readonly tokens = new Map<string, string>();

  private constructor(
    private readonly server: Server,
    private key: SigningKey,
  ) {}

  static async start(port = 0): Promise<ScriptedIssuer> {
    const server = createServer();
    const issuer = new ScriptedIssuer(server, await newKey());
    server.on('request', (request, response) => {
      issuer.answer(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The variables of a service that uses this issuer. */
  env(publicUrl: string): Record<string, string> {
    return {
      PUBLIC_URL: publicUrl,
      OIDC_ISSUER: this.url,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: CLIENT_SECRET,
    };
  }

  /**
   * Signs a person in, as the issuer does when the browser has followed `location`.
   *
   * @returns the path and the query with which the browser comes back.
   */
  authorize(location: string, claims: Claims, query: Readonly<Record<string, string>> = {}): string {
    const { searchParams: sent } = new URL(location);
    const code = randomUUID();
    this.codes.set(code, {
      nonce: sent.get('nonce') ?? '',
      challenge: sent.get('code_challenge') ?? '',
      redirectUri: sent.get('redirect_uri') ?? '',
      claims,
    });
    const back = new URL(sent.get('redirect_uri') ?? '');
    const parameters = { code, state: sent.get('state') ?? '', iss: this.url, ...query };
    return `${back.pathname}?${new URLSearchParams(parameters).toString()}`;
  }

  /** A logout token, signed with the current key. Claims that are `undefined` are left out. */
  async logoutToken(claims: Claims, header: Claims = {}): Promise<string> {
    return this.sign(
      { ...this.common(), jti: randomUUID(), events: { [LOGOUT_EVENT]: {} }, ...claims },
      { typ: 'logout+jwt', ...header },
    );
  }

  async rotateKey(): Promise<void> {
    this.key = await newKey();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  async sign(claims: Claims, header: Claims = {}): Promise<string> {
    const { privateKey, kid } = this.key;
    return new SignJWT(JSON.parse(JSON.stringify(claims)) as Record<string, unknown>)
      .setProtectedHeader({ alg: 'ES256', kid, ...header })
      .sign(privateKey);
  }

  private common(): Claims {
    const now = Math.floor(Date.now() / 1000);
    return { iss: this.url, aud: CLIENT_ID, iat: now, exp: now + 120 };
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    this.requests.push(path);
    const instead = this.instead.get(path);
    if (instead !== undefined) {
      instead(response);
      return;
    }
    switch (path) {
      case '/.well-known/openid-configuration':
        send(response, 200, this.discovery());
        return;
      case '/keys':
        send(response, 200, { keys: [this.key.publicKey] });
        return;
      case '/token':
        await this.token(request, response);
        return;
      case '/me': {
        const sub = this.tokens.get((request.headers.authorization ?? '').replace(/^Bearer /, ''));
        if (sub === undefined) send(response, 401, { error: 'invalid_token' });
        else send(response, 200, { sub, ...this.userInfo });
        return;
      }
      default:
        send(response, 404, {});
    }
  }

  private discovery(): Claims {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/auth`,
      token_endpoint: `${this.url}/token`,
      userinfo_endpoint: `${this.url}/me`,
      end_session_endpoint: `${this.url}/end`,
      jwks_uri: `${this.url}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      authorization_response_iss_parameter_supported: true,
      ...this.metadata,
    };
  }

  private async token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const code = form.get('code') ?? '';
    const authorization = this.codes.get(code);
    // A code works once.
    this.codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isValid =
      authorization !== undefined &&
      authorization.challenge === challenge &&
      authorization.redirectUri === form.get('redirect_uri') &&
      isClient(request);
    if (!isValid) {
      send(response, 400, { error: 'invalid_grant' });
      return;
    }
    const claims: Claims = { ...this.common(), nonce: authorization.nonce, ...authorization.claims, ...this.idToken };
    const accessToken = randomUUID();
    this.tokens.set(accessToken, String(claims['sub']));
    send(response, 200, { token_type: 'Bearer', access_token: accessToken, id_token: await this.sign(claims) });
  }
}

async function newKey(): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const kid = randomUUID();
  return { kid, privateKey, publicKey: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } };
}

function isClient({ headers }: IncomingMessage): boolean {
  const [id, secret] = Buffer.from((headers.authorization ?? '').replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':')
    .map((part) => new URLSearchParams(`x=${part}`).get('x'));
  return id === CLIENT_ID && secret === CLIENT_SECRET;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
