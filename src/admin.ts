import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ACCOUNT_COMMANDS, type Command, type Options } from './accounts/account-commands.js';
import { AccountsModule } from './accounts/accounts.module.js';
import { ServiceError } from './common/service-error.js';
import { ConfigModule } from './config/config.module.js';
import { USAGE_COMMANDS } from './usage/usage-commands.js';
import { UsageReportsModule } from './usage/usage-reports.module.js';

const COMMANDS: readonly Command[] = [...ACCOUNT_COMMANDS, ...USAGE_COMMANDS];

/** What goes wrong is told here, in one line, and not by Nest. */
const QUIET = { logger: false, abortOnError: false } as const;

@Module({})
class AdminModule {}

/** The command line cannot be understood. */
class Misuse extends Error {}

/** Runs one command and prints its result: one line of JSON, or a text as it is. */
async function main(words: readonly string[]): Promise<void> {
  if (words.length === 0 || words.includes('--help') || words.includes('-h')) {
    (words.length === 0 ? process.stderr : process.stdout).write(usage());
    process.exitCode = words.length === 0 ? 1 : 0;
    return;
  }
  const command = commandOf(words);
  const options = optionsOf(command, words.slice(command.name.split(' ').length));
  const app = await NestFactory.createApplicationContext(
    { module: AdminModule, imports: [ConfigModule.forRoot(), AccountsModule, UsageReportsModule] },
    QUIET,
  );
  try {
    const result = await command.run(app, options);
    process.stdout.write(`${typeof result === 'string' ? result : JSON.stringify(result)}\n`);
  } finally {
    await app.close();
  }
}

function commandOf(words: readonly string[]): Command {
  const command = COMMANDS.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));
  if (command === undefined) throw new Misuse(`There is no command "${words.slice(0, 2).join(' ')}".\n${usage()}`);
  return command;
}

function optionsOf({ required, optional }: Command, words: string[]): Options {
  const names = [...Object.keys(required), ...Object.keys(optional)];
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({ args: words, options, strict: true });
  const missing = Object.keys(required).filter((name) => values[name] === undefined);
  if (missing.length > 0) throw new Misuse(`Missing: ${missing.map((name) => `--${name}`).join(', ')}.\n${usage()}`);
  return values as Options;
}

function usage(): string {
  const lines = COMMANDS.map(({ name, required, optional }) => {
    const needed = Object.entries(required).map(([option, value]) => `--${option} ${value}`);
    const allowed = Object.entries(optional).map(([option, value]) => `[--${option} ${value}]`);
    return `  ${[name, ...needed, ...allowed].join(' ')}`;
  });
  return `Usage: npm run --silent admin -- <command>\n\n${lines.join('\n')}\n`;
}

/** What to tell the operator: what is wrong, without the stack. */
function messageOf(error: unknown): string {
  if (error instanceof ServiceError && error.details !== undefined) {
    return error.details.map(({ field, message }) => `${field}: ${message}`).join('\n');
  }
  return error instanceof Error ? error.message : String(error);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${messageOf(error).trimEnd()}\n`);
  process.exitCode = 1;
}
