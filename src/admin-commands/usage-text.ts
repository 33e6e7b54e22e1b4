import { basename, extname } from 'node:path';
import type { Command } from './command.js';

/**
 * The commands with their options, for the operator.
 *
 * @param script the path of the running script.
 */
export function usageText(commands: readonly Command[], script: string | undefined): string {
  const lines = commands.map((command) => `  ${lineOf(command)}`);
  return `Usage: ${calledAs(script)} <command>\n\n${lines.join('\n')}\n\nIf you give no password option, the command asks for the password in the terminal.\nA terminal gets a table, and a pipe gets JSON; --json prints JSON in both cases. <command> --help explains one command.\n`;
}

/** The usage of one command. */
export function commandUsage(command: Command): string {
  const { setsPassword = false } = command;
  const password = setsPassword
    ? '\nWithout a password option, the command asks for the password in the terminal.\n'
    : '';
  return `Usage: ${lineOf(command)}${hasOwnJson(command) ? '' : ' [--json]'}\n${password}`;
}

/** Whether the command, of a plugin, has an option of its own with the name of the option that all others have. */
export function hasOwnJson({ required, optional, flags = [] }: Command): boolean {
  return flags.includes('json') || 'json' in required || 'json' in optional;
}

function lineOf({ name, required, optional, flags = [], setsPassword = false }: Command): string {
  const needed = Object.entries(required).map(([option, value]) => `--${option} ${value}`);
  const allowed = Object.entries(optional).map(([option, value]) => `[--${option} ${value}]`);
  const switches = flags.map((flag) => `[--${flag}]`);
  const password = setsPassword ? ['[--password-stdin | --password P]'] : [];
  return [name, ...needed, ...allowed, ...switches, ...password].join(' ');
}

/** An installed command is a file without an extension. */
function calledAs(script = 'admin.js'): string {
  return extname(script) === '' ? basename(script) : 'npm run --silent admin --';
}
