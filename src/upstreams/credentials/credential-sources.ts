import { Injectable } from '@nestjs/common';
import { createRequire } from 'node:module';
import { fetch } from 'undici';
import { ExtensionPoint, Extensions } from '../../platform/common/extensions/extensions.js';
import type { UpstreamConfig } from '../../platform/config/config.js';
import type { CredentialSource, Credential, CredentialContext } from '../contract/credential.js';
import { checkedOptions } from '../contract/options-schema.js';
import { UpstreamConnections } from '../transport/upstream-connections.js';
import { AwsCredentials } from './aws-credentials.js';
import { AzureCredentials } from './azure-credentials.js';
import { UpstreamCredentials } from './upstream-credentials.js';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { credentialsUnavailable } from '../contract/provider-failure.js';
import type { AuthClient } from 'google-auth-library';

const googleOptions = z.strictObject({
  scopes: z.array(z.string().min(1)).min(1).default(['https://www.googleapis.com/auth/cloud-platform']),
});
type GoogleOptions = z.infer<typeof googleOptions>;

/** The address that the library uses for the keys of service accounts, whatever `token_uri` of the key file says. */
const TOKEN_URL = 'https://oauth2.googleapis.com/token';
const KeyFile = z.object({ token_uri: z.url() });

/**
 * Sends access tokens of Google: the Application Default Credentials, which are a key file, a workload identity federation, a login of
 * `gcloud`, or the metadata server.
 */
class GoogleCredentials implements CredentialSource<GoogleOptions> {
  readonly kind = 'google';
  readonly options = googleOptions;
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

const commandOptions = z.strictObject({
  /** The program and its arguments. No shell interprets them. */
  command: z.tuple([z.string().min(1)], z.string()),
});
type CommandOptions = z.infer<typeof commandOptions>;

const Output = z.object({
  headers: z.record(z.string().regex(/^[\w-]+$/), z.string().regex(/^[\t\x20-\x7e]*$/)),
  /** Seconds since 1970, or a date of ISO 8601. */
  expires_at: z
    .union([z.number().transform((seconds) => seconds * 1_000), z.iso.datetime({ offset: true }).transform(Date.parse)])
    .nullish(),
});

const MAX_OUTPUT_BYTES = 64 * 1024;

const run = promisify(execFile);

/** Runs a program that prints the headers of the requests and their expiry as JSON, such as the client of a vault. */
class CommandCredentials implements CredentialSource<CommandOptions> {
  readonly kind = 'command';
  readonly options = commandOptions;

  async obtain(options: CommandOptions, _: UpstreamConfig, { signal }: CredentialContext): Promise<Credential> {
    const [program, ...args] = options.command;
    const output = await run(program, args, { signal, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES }).then(
      ({ stdout }) => stdout,
      (error: unknown) => {
        // The message contains what the program has printed.
        const { code } = error as { readonly code?: unknown };
        throw credentialsUnavailable(`The program failed: ${String(code)}.`, { code: `command_${String(code)}` });
      },
    );
    const { data } = Output.safeParse(jsonOf(output));
    if (data === undefined) throw credentialsUnavailable('The program printed something else than headers as JSON.');
    const headers = Object.fromEntries(
      Object.entries(data.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    return { expiresAt: data.expires_at ?? undefined, authorize: () => headers };
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The sources of credentials of plugins. One with the kind of a built-in source replaces it. */
export const PLUGIN_CREDENTIALS = new ExtensionPoint<CredentialSource>('credentials');

/** The sources of the service. To add a source, add one file, and one entry to this list. */
const SOURCES: readonly CredentialSource[] = [
  new AwsCredentials(),
  new GoogleCredentials(),
  new AzureCredentials(),
  new CommandCredentials(),
];

const require = createRequire(import.meta.url);

/** Finds the source of the credentials of an upstream, and checks its configuration. */
@Injectable()
export class CredentialSources {
  constructor(
    private readonly extensions: Extensions,
    private readonly connections: UpstreamConnections,
  ) {}

  /**
   * Returns the credentials of an upstream. Nothing is obtained or loaded yet.
   *
   * @param problems gets each problem, with the path inside the upstream.
   */
  of(upstream: UpstreamConfig, problems: string[]): UpstreamCredentials | undefined {
    const { credentials } = upstream;
    if (credentials === undefined) return undefined;
    const sources = [...SOURCES, ...this.extensions.of(PLUGIN_CREDENTIALS)];
    const source = sources.findLast(({ kind }) => kind === credentials.kind);
    if (source === undefined) {
      problems.push(`credentials.kind: is not one of ${[...new Set(sources.map(({ kind }) => kind))].join(', ')}`);
      return undefined;
    }
    const owner = `the kind ${source.kind}`;
    const given = source.options === undefined && isEmpty(credentials.options) ? undefined : credentials.options;
    const { options, issues } = checkedOptions(source.options, given, owner);
    problems.push(
      ...issues.map((issue) => `credentials${issue}`),
      ...(source.packages ?? []).flatMap(problemOfPackage),
    );
    const dispatcher = this.connections.dispatcher(upstream);
    return new UpstreamCredentials((signal) =>
      source.obtain(options, upstream, {
        signal,
        fetch: (url, init = {}) =>
          fetch(url, {
            ...init,
            signal: init.signal == null ? signal : AbortSignal.any([signal, init.signal]),
            dispatcher,
          }),
      }),
    );
  }
}

function isEmpty(options: object): boolean {
  return Object.keys(options).length === 0;
}

function problemOfPackage(name: string): string[] {
  try {
    require.resolve(name);
    return [];
  } catch {
    return [`credentials: needs the package ${name}, which is not installed: npm install ${name}`];
  }
}
