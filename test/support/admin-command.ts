import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCommand } from '../../src/plugins/admin/commands/run-command.js';
import type { Plugin } from '../../src/plugin-api/plugin-set.js';

export interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command of `npm run admin` inside this process. This takes a twentieth of the time of a separate process.
 *
 * @param input the whole standard input. Without it, the standard input stays open and sends nothing.
 */
export async function adminCommand(
  env: Readonly<Record<string, string>>,
  words: readonly string[],
  input?: string | Buffer,
  plugins: readonly Plugin[] = [],
): Promise<Outcome> {
  const stdin = input === undefined ? new PassThrough() : Readable.from([Buffer.from(input)]);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const context = { env: { NODE_ENV: 'production', ...env }, stdin, stdout, stderr };
  const exitCode = await runCommand(words, context, plugins);
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { exitCode, stdout: out, stderr: err };
}
