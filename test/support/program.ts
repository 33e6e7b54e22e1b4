import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { delimiter, join } from 'node:path';

/** Before the tests and their services, so that a busy machine does not make a server silent. Needs root. */
const SERVER_PRIORITY = -10;

/** Debian installs PostgreSQL here, in one folder for each version. */
const POSTGRES_VERSIONS = '/usr/lib/postgresql';

/** Debian installs servers in folders that are not in the path of every user. */
const FOLDERS = [
  ...(process.env['PATH'] ?? '').split(delimiter),
  ...['/usr/sbin', '/usr/local/sbin'],
  ...(existsSync(POSTGRES_VERSIONS) ? readdirSync(POSTGRES_VERSIONS) : []).map((version) =>
    join(POSTGRES_VERSIONS, version, 'bin'),
  ),
];

/** Returns the path of an installed program. Prints a warning and returns `undefined` if the program is missing. */
export function programAt(name: string): string | undefined {
  const path = FOLDERS.map((folder) => join(folder, name)).find(isExecutable);
  if (path === undefined) console.warn(`\n!!! ${name} is not installed: the tests with ${name} are LEFT OUT !!!\n`);
  return path;
}

/** Starts a server that the tests bring along. */
export function startServer(path: string, words: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const child = spawn(path, words, { stdio: 'ignore', ...options });
  if (child.pid !== undefined) prefer(child.pid, SERVER_PRIORITY);
  return child;
}

/** Lets a process run before others of a lower priority (a higher number), if the user may do so. */
export function prefer(pid: number, priority: number): void {
  try {
    setPriority(pid, priority);
  } catch {
    // It runs like all others.
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
