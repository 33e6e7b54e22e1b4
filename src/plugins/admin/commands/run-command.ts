import { Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { AccountsModule } from '../../../plugin-api/core/accounts.js';
import { ExtensionsModule, ServiceError } from '../../../plugin-api/core/common.js';
import {
  type Config,
  ConfigModule,
  type DatabaseConfig,
  loadConfig,
  type Variables,
} from '../../../plugin-api/core/config.js';
import { configProvider } from '../../../plugin-api/chat-plugin.decorator.js';
import type { PluginDescription } from '../../../plugin-api/plugin-description.js';
import { PluginSet, type Plugin } from '../../../plugin-api/plugin-set.js';
import { PluginsModule } from '../../../plugin-api/plugin-configs.js';
import { UsageReportsModule } from '../../../plugin-api/core/usage.js';
import { ACCOUNT_COMMANDS, KEY_COMMANDS, OPERATOR_KEY_COMMANDS, AUDIT_COMMANDS, USAGE_COMMANDS } from './commands.js';
import { commandUsage, hasOwnJson, Misuse, usageText, type Command, piecesOf, tableOf } from './command.js';
import { readPassword } from './password-input.js';

/** The environment and the streams of a command: `process`, or a replacement for it. */
export interface CommandContext {
  readonly env: Variables;
  readonly argv?: readonly string[];
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

/** The options of a command line. A password can still be missing. */
interface GivenOptions {
  readonly options: Readonly<Record<string, string>>;
  /** Whether the password comes from the standard input. */
  readonly fromStdin: boolean;
}

/** Nest logs nothing, because `runCommand` reports each error in one line. */
const QUIET = { logger: false, abortOnError: false } as const;

@Module({})
class AdminModule {}

/**
 * Runs one command and prints its result: one line of JSON, a table on a terminal, or an unchanged text.
 *
 * @returns the exit code. Error messages go to `stderr`.
 */
export async function runCommand(
  words: readonly string[],
  context: CommandContext,
  plugins: readonly Plugin[] = [],
): Promise<number> {
  try {
    const set = new PluginSet(plugins);
    const commands = [
      ...ACCOUNT_COMMANDS,
      ...KEY_COMMANDS,
      ...OPERATOR_KEY_COMMANDS,
      ...USAGE_COMMANDS,
      ...AUDIT_COMMANDS,
      ...set.descriptions.flatMap(commandsOf),
    ];
    const usage = usageText(commands, context.argv?.[1]);
    if (words.length === 0) throw new Misuse(usage);
    if (words.includes('--help') || words.includes('-h')) context.stdout.write(helpFor(words, commands, usage));
    else await run(words, context, commands, usage, set);
    return 0;
  } catch (error) {
    context.stderr.write(`${messageOf(error).trimEnd()}\n`);
    return 1;
  }
}

/** Returns the usage of the named command, or of all commands. */
function helpFor(words: readonly string[], commands: readonly Command[], usage: string): string {
  const command = namedCommand(words, commands);
  return command === undefined ? usage : commandUsage(command);
}

async function run(
  words: readonly string[],
  context: CommandContext,
  commands: readonly Command[],
  usage: string,
  plugins: PluginSet,
): Promise<void> {
  const command = commandOf(words, commands, usage);
  const { json, ...given } = optionsOf(command, words.slice(command.name.split(' ').length));
  const loaded = loadConfig(context.env);
  const options = command.setsPassword === true ? await withPassword(given, loaded, context) : given.options;
  if (command.createsDatabase !== true) refuseMissingFile(loaded.database);
  const config = ConfigModule.forRoot(loaded);
  const app = await NestFactory.createApplicationContext(
    {
      module: AdminModule,
      imports: [
        config,
        ExtensionsModule.register({ tokens: new Map(), values: plugins.values }),
        AccountsModule,
        UsageReportsModule,
        // Without plugins, their configuration is none of this program's business.
        ...(plugins.descriptions.length === 0 ? [] : [PluginsModule.register(plugins.schemas)]),
        ...plugins.descriptions.map(commandModule),
      ],
    },
    QUIET,
  );
  try {
    const result = await command.run(app, options);
    const pieces = context.stdout.isTTY === true && !json ? tableOf(result) : piecesOf(result);
    await pipeline(pieces, context.stdout, { end: false });
  } finally {
    await app.close();
  }
}

function commandOf(words: readonly string[], commands: readonly Command[], usage: string): Command {
  const command = namedCommand(words, commands);
  if (command === undefined) throw new Misuse(`There is no command "${words.slice(0, 2).join(' ')}".\n${usage}`);
  return command;
}

function namedCommand(words: readonly string[], commands: readonly Command[]): Command | undefined {
  return commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));
}

/** @throws {Misuse} if the file is missing: opening it would create an empty database. */
function refuseMissingFile(database: DatabaseConfig): void {
  if (database.type !== 'sqlite' || !isMissing(database.path)) return;
  throw new Misuse(
    `There is no database file ${database.path}. Set DATABASE_URL as for the service, or start the service once.`,
  );
}

function isMissing(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function optionsOf(command: Command, words: string[]): GivenOptions & { readonly json: boolean } {
  const { required, optional, flags = [], setsPassword = false } = command;
  const names = [...Object.keys(required), ...Object.keys(optional), ...(setsPassword ? ['password'] : [])];
  const ownsJson = hasOwnJson(command);
  const switches = [...flags, ...(ownsJson ? [] : ['json']), ...(setsPassword ? ['password-stdin'] : [])];
  const { values } = parseArgs({ args: words, options: { ...typed(names, 'string'), ...typed(switches, 'boolean') } });
  const missing = Object.keys(required).filter((name) => values[name] === undefined);
  if (missing.length > 0)
    throw new Misuse(`Missing: ${missing.map((name) => `--${name}`).join(', ')}.\n${commandUsage(command)}`);
  const { 'password-stdin': fromStdin, json: jsonValue, ...others } = values;
  const json = !ownsJson && jsonValue === true;
  const own = ownsJson && jsonValue !== undefined ? { ...others, json: jsonValue } : others;
  const options = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, String(value)]));
  return { options, fromStdin: fromStdin === true, json };
}

/** @throws {Misuse} for a password where accounts have none. */
async function withPassword(
  { options, fromStdin }: GivenOptions,
  { passwords }: Config,
  context: CommandContext,
): Promise<GivenOptions['options']> {
  const { password } = options;
  if (passwords === 'on') return { ...options, password: await readPassword({ password, fromStdin }, context) };
  if (password === undefined && !fromStdin) return options;
  throw new Misuse('Accounts have no passwords here (PASSWORDS=off). Leave the password out.');
}

function typed<T extends 'string' | 'boolean'>(names: readonly string[], type: T): Record<string, { type: T }> {
  return Object.fromEntries(names.map((name) => [name, { type }]));
}

/** The error message for the operator, without the stack. */
function messageOf(error: unknown): string {
  if (error instanceof ServiceError && error.details !== undefined) {
    return error.details.map(({ field, message }) => `${field}: ${message}`).join('\n');
  }
  return error instanceof Error ? error.message : String(error);
}

/** Returns the commands of a plugin. */
function commandsOf({ admin }: PluginDescription): Command[] {
  return (admin?.commands ?? []).map((type) => ({
    required: {},
    optional: {},
    ...type.command,
    run: (app, options) => app.get(type, { strict: false }).run(options),
  }));
}

/** Returns the module that creates the commands of a plugin. */
function commandModule({ name, entities = [], admin }: PluginDescription): DynamicModule {
  @Module({})
  class PluginCommandsModule {}
  return {
    module: PluginCommandsModule,
    imports: [
      AccountsModule,
      UsageReportsModule,
      ...(entities.length === 0 ? [] : [TypeOrmModule.forFeature([...entities])]),
      ...(admin?.imports ?? []),
    ],
    providers: [configProvider(name), ...(admin?.providers ?? []), ...(admin?.commands ?? [])],
  };
}

interface AdminOptions {
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
