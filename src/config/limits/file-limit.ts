import { readFileSync } from 'node:fs';

/** The file in which Linux lists the limits of a process. */
const LIMITS = '/proc/self/limits';

/** Returns how many files and sockets this process may have open at once, or `Infinity` if the limit is unknown. */
export function openFileLimit(limits = read()): number {
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? Infinity : Number(soft);
}

function read(): string {
  try {
    return readFileSync(LIMITS, 'utf8');
  } catch {
    return '';
  }
}
