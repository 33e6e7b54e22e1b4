import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian installs servers in folders that are not in the path of every user. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];

/** Returns the path of an installed program. Prints a warning and returns `undefined` if the program is missing. */
export function programAt(name: string): string | undefined {
  const path = FOLDERS.map((folder) => join(folder, name)).find(isExecutable);
  if (path === undefined) console.warn(`\n!!! ${name} is not installed: the tests with ${name} are LEFT OUT !!!\n`);
  return path;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
