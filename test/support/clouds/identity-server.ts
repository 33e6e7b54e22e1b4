import type { ProviderCall } from '../../../src/testing/provider/provider-call.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';

type Answer = (call: ProviderCall) => void | Promise<void>;

/**
 * The places where the clouds give out tokens: the token endpoints of Entra ID and of Google, their metadata servers, the endpoint for
 * containers and STS of AWS. Each token is a new one with a limited life.
 */
export class IdentityServer {
  /** The number of tokens that were given out. */
  issued = 0;
  lifetimeSeconds = 3_600;
  /** Instead of a token. `undefined`: tokens are given out. */
  outage: Answer | undefined;
  private readonly expiry = new Map<string, number>();

  private constructor(private readonly server: ScriptedProvider) {
    server.answers(async (call) => {
      if (call.path.includes('/api/token') && call.method === 'PUT') call.head(200).write('imds-session').end();
      else if (this.outage !== undefined) await this.outage(call);
      else this.give(call);
    });
  }

  static async start(): Promise<IdentityServer> {
    return new IdentityServer(await ScriptedProvider.start());
  }

  get origin(): string {
    return this.server.origin;
  }

  get calls(): readonly ProviderCall[] {
    return this.server.calls;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /** Whether the token was given out here, and has not expired. */
  isValid(token: string | undefined): boolean {
    return (this.expiry.get(token ?? '') ?? 0) > Date.now();
  }

  revokeAll(): void {
    this.expiry.clear();
  }

  private give(call: ProviderCall): void {
    const token = `token-${++this.issued}`;
    const expiresAt = Date.now() + this.lifetimeSeconds * 1_000;
    this.expiry.set(token, expiresAt);
    const path = call.path.split('?')[0] ?? '';
    const iso = new Date(expiresAt).toISOString();
    const key = { AccessKeyId: 'AKIDEXAMPLE', SecretAccessKey: 'secret-of-aws', Token: token, Expiration: iso };
    if (path === '/container') call.reply(key);
    else if (path.endsWith('/security-credentials/')) call.head(200).write('role').end();
    else if (path.endsWith('/security-credentials/role')) call.reply({ Code: 'Success', ...key });
    else if (call.body.includes('AssumeRoleWithWebIdentity')) {
      const { Token: session, ...pair } = key;
      const members = Object.entries({ ...pair, SessionToken: session }).map(
        ([name, text]) => `<${name}>${text}</${name}>`,
      );
      const result = `<AssumeRoleWithWebIdentityResult><Credentials>${members.join('')}</Credentials></AssumeRoleWithWebIdentityResult>`;
      const xml = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">${result}</AssumeRoleWithWebIdentityResponse>`;
      call.head(200, { 'content-type': 'text/xml' }).write(xml).end();
    } else if (path.startsWith('/metadata/')) {
      // IMDS of Azure sends numbers as texts.
      const [lifetime, on] = [this.lifetimeSeconds, Math.floor(expiresAt / 1_000)].map(String);
      call.reply({ access_token: token, expires_in: lifetime, expires_on: on, token_type: 'Bearer' });
    } else call.reply({ access_token: token, expires_in: this.lifetimeSeconds, token_type: 'Bearer' });
  }
}
