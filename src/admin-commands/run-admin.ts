import { runCommand } from './run-command.js';
import type { Plugin } from '../plugins/plugin-set.js';

export interface AdminOptions {
  /** The plugins of the application: their commands, their tables, and their configuration. */
  readonly plugins?: readonly Plugin[];
}

/**
 * Runs the admin command of the command line of this process, and sets the exit code: 0, or 1 with a message on stderr.
 *
 * @since 1.0
 *
 * @example
 * ```ts
 * // admin.ts of an application
 * await runAdmin({ plugins: [AcmePlugin] });
 * ```
 */
export async function runAdmin({ plugins = [] }: AdminOptions = {}): Promise<void> {
  process.exitCode = await runCommand(process.argv.slice(2), process, plugins);
}
