import { readFileSync } from 'node:fs';

/** Where Linux shows the limits of a process. */
const LIMITS = '/proc/self/limits';

/** How many files and sockets this process may have open at once; `Infinity` where nothing tells. */
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
