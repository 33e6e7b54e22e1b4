import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { UpstreamConfig } from '../../platform/config/config.js';
import type { Credential, CredentialContext, CredentialSource } from '../contract/credential.js';
import { credentialsUnavailable } from '../contract/provider-failure.js';

const Options = z.strictObject({
  /** The program and its arguments. No shell interprets them. */
  command: z.tuple([z.string().min(1)], z.string()),
});
type CommandOptions = z.infer<typeof Options>;

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
export class CommandCredentials implements CredentialSource<CommandOptions> {
  readonly kind = 'command';
  readonly options = Options;

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
