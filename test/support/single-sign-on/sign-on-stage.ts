import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { startService, type RunningService, type ServiceOptions } from '../service.js';
import { SignInPagesModule } from '../sign-in-pages.js';
import type { ReceivedStream } from '../sse-client.js';
import { WebClient } from '../web-client.js';
import { ScriptedIssuer, type Claims } from './scripted-issuer.js';

export const START = '/sign-in/single-sign-on';
export const LOGOUT = `${START}/back-channel-logout`;
/** Browsers accept a page. */
export const AS_BROWSER = { accept: 'text/html', 'sec-fetch-site': 'none' };

export const ADA = { sub: 'ada-1', email: 'ada@example.com', email_verified: true } as const;

/** A port of the service that the issuer can know before the service starts. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The service with a scripted issuer. */
export interface SignOnStage {
  readonly issuer: ScriptedIssuer;
  readonly service: RunningService;
  readonly origin: string;
  browser(): WebClient;
  stop(): Promise<void>;
}

export async function signOnStage({ env = {}, ...options }: ServiceOptions = {}): Promise<SignOnStage> {
  const issuer = await ScriptedIssuer.start();
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const service = await startService({
    modules: [SignInPagesModule],
    ...options,
    env: { PORT: String(port), ...issuer.env(publicUrl), ...env },
  });
  return {
    issuer,
    service,
    origin: publicUrl,
    browser: () => new WebClient(publicUrl),
    async stop() {
      await service.stop();
      await issuer.stop();
    },
  };
}

/** Goes to the issuer and comes back. Returns the answer to the callback. */
export async function signOn(
  { issuer }: Pick<SignOnStage, 'issuer'>,
  browser: WebClient,
  claims: Claims = ADA,
  query: Readonly<Record<string, string>> = {},
): Promise<ReceivedStream> {
  return browser.get(issuer.authorize(await startSignOn(browser), claims, query));
}

/** Starts a sign-in. Returns the address of the issuer to which the browser is sent. */
export async function startSignOn(browser: WebClient, path = START): Promise<string> {
  const answer = await browser.get(path, { 'sec-fetch-site': 'same-origin' });
  const { location } = answer.headers;
  if (location === undefined) throw new Error(`${answer.status}: ${await answer.body()}`);
  return location;
}
