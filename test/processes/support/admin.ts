import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { environmentOf } from '../../contract/accounts/admin.js';
import type { Outcome } from '../../support/admin-command.js';
import type { TestDatabase } from '../../support/database.js';

const ADMIN = fileURLToPath(new URL('../../../dist/admin.js', import.meta.url));
if (!existsSync(ADMIN)) throw new Error('dist/admin.js is missing: run "npm run build".');

/** Runs a command as a process of its own. */
export function adminProcess(input: string, database: TestDatabase, ...words: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const env = environmentOf(database);
    const child = execFile(process.execPath, [ADMIN, ...words], { env }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr });
    });
    // A command that does not read its input closes it.
    child.stdin?.on('error', () => undefined).end(input);
  });
}

/** Whether this machine can give a command a terminal. */
export const hasTerminals = spawnSync('script', ['--version']).status === 0;

/**
 * Runs a command in a terminal.
 *
 * @param answers what is typed at each question, such as `secret\r`.
 * @returns all that the terminal shows.
 */
export function adminInTerminal(
  answers: readonly string[],
  database: TestDatabase,
  ...words: string[]
): Promise<{ readonly exitCode: number | null; readonly shown: string }> {
  const command = [process.execPath, ADMIN, ...words].map((word) => `'${word}'`).join(' ');
  const env = { PATH: process.env['PATH'], ...environmentOf(database) };
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { env });
  const left = [...answers];
  let shown = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (/password(?: again)?: $/.test(shown)) terminal.stdin.write(left.shift() ?? '\x04');
  });
  return new Promise((resolve) => {
    terminal.once('close', (exitCode) => {
      resolve({ exitCode, shown });
    });
  });
}
