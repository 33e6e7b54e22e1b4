import type { INestApplicationContext } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { basename, extname } from 'node:path';
import type { ChangeAuthor } from '../../../plugin-api/core/accounts.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import type { Operation, OperationInput } from '../operations/operation.js';

/** The error for an invalid command line or an invalid input. The message tells the operator what to do. */
export class Misuse extends Error {}

/** The author of the changes of the admin command, for the audit log: the user of the system, and the host. */
export const COMMAND: ChangeAuthor = { actor: 'command', source: `${userName()}@${hostname()}` };

/** In a container, the user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? ''}`.trim();
  }
}

/** The options of a command by name, without the dashes. Required options always have a value. */
export type Options<Required extends string = string, Optional extends string = string> = {
  readonly [name in Required]: string;
} & { readonly [name in Optional]?: string };

/** One command of `npm run admin`. */
export interface Command {
  /** The name as the operator types it. */
  readonly name: string;
  /** Options by name, each with the placeholder for its value in the usage text. */
  readonly required: Readonly<Record<string, string>>;
  readonly optional: Readonly<Record<string, string>>;
  /** Options without a value. A flag on the command line has the value `true` in `options`. */
  readonly flags?: readonly string[];
  /** Whether the command may create the database: the first account can be created before the first start. */
  readonly createsDatabase?: boolean;
  /** Whether the command sets a password. `run` gets the password as the option `password`, from any kind of input. */
  readonly setsPassword?: boolean;
  /** @returns a value to print as JSON, a text to print unchanged, or the pieces of such a text. */
  run(app: INestApplicationContext, options: Options): Promise<unknown>;
}

/** Gives `run` the types of its options. The caller of `run` checks that the required options have a value. */
export function command<R extends string = never, O extends string = never, F extends string = never>(definition: {
  readonly name: string;
  readonly required?: Readonly<Record<R, string>>;
  readonly optional?: Readonly<Record<O, string>>;
  readonly flags?: readonly F[];
  readonly createsDatabase?: boolean;
  readonly setsPassword?: boolean;
  run(app: INestApplicationContext, options: Options<R, O | F | 'password'>): Promise<unknown>;
}): Command {
  return { required: {}, optional: {}, ...definition };
}

/** The flags of the commands that end an operator or an operator key. */
export const CASCADE_FLAGS = ['keep-made', 'end-operators'] as const;

interface OperationCommand<Result> extends Omit<Partial<Command>, 'name'>, Pick<Command, 'name'> {
  /** The members of the body that are not options. */
  readonly sets?: object;
  /** What the operator has to do first, if the operation does not exist in this configuration. */
  readonly precondition?: string;
  /** Returns what the command prints. By default the result of the operation. */
  shows?(result: Result, options: Options): unknown;
}

/** Creates the command that runs an operation. Its options are the members of the body, with dashes in their names. */
export function operationCommand<Body, Result>(
  operation: Operation<OperationInput<Body>, Result>,
  { sets, precondition, shows = (result) => result, ...definition }: OperationCommand<Result>,
): Command {
  return command({
    ...definition,
    async run(app, options) {
      if (precondition !== undefined && operation.condition?.(app.get<Config>(CONFIG)) === false) {
        throw new Misuse(precondition);
      }
      const members = Object.entries(options).map(([name, value]) => {
        const isFlag = definition.flags?.includes(name) ?? false;
        return [name.replaceAll('-', '_'), isFlag ? true : value];
      });
      const result = await operation.run({
        get: (token) => app.get(token),
        account: options['email'] ?? '',
        id: options['id'] ?? '',
        body: { ...Object.fromEntries(members), ...sets } as Body,
        cascade: { keepMade: 'keep-made' in options, endOperators: 'end-operators' in options },
        author: COMMAND,
        once: ({ create }) => create(randomUUID()),
      });
      return shows(result, options);
    },
  });
}

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

/** Returns the result of a command as one line of JSON. A text, and the pieces of a text, stay unchanged. */
export async function* piecesOf(result: unknown): AsyncIterable<string> {
  if (typeof result === 'string') yield result;
  else if (isPieces(result)) yield* result;
  else yield JSON.stringify(result);
  yield '\n';
}

/** Returns one array in pieces, because the entries of a long list may not fit into memory. */
export async function* jsonArray<T>(
  pages: AsyncIterable<readonly T[]>,
  shown: (entry: T) => unknown,
): AsyncIterable<string> {
  let before = '[';
  for await (const page of pages) {
    for (const entry of page) {
      yield before + JSON.stringify(shown(entry));
      before = ',';
    }
  }
  yield before === '[' ? '[]' : ']';
}

/** Returns the result for a person at a terminal: objects as the rows of a table, and a text unchanged. */
export async function* tableOf(result: unknown): AsyncIterable<string> {
  let text = '';
  for await (const piece of piecesOf(result)) text += piece;
  const rows = rowsIn(text);
  yield rows === undefined ? text : linesOf(rows);
}

type Row = Readonly<Record<string, unknown>>;

function rowsIn(text: string): readonly Row[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const rows: unknown[] = Array.isArray(value) ? value : [value];
    return rows.every((row): row is Row => typeof row === 'object' && row !== null) ? rows : undefined;
  } catch {
    return undefined;
  }
}

function linesOf(rows: readonly Row[]): string {
  const [first] = rows;
  if (first === undefined) return 'none\n';
  const names = Object.keys(first);
  const cells = [names, ...rows.map((row) => names.map((name) => cellOf(row[name])))];
  const widths = names.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isPieces(result: unknown): result is AsyncIterable<string> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
}
