import type { YAMLParseError } from 'yaml';

/**
 * Returns the first problem of each line, because the parser reports several problems for one mistake. A variable without
 * quotes also spoils the lines after it, so only such variables are reported if there are any.
 */
export function syntaxProblems(errors: readonly YAMLParseError[], source: string): string[] {
  const lines = source.split('\n');
  const byLine = new Map<number, string>();
  const unquoted = new Map<number, string>();
  for (const { message, linePos } of errors) {
    const line = linePos?.[0].line ?? 0;
    if (byLine.has(line)) continue;
    byLine.set(line, message.split('\n')[0] ?? message);
    const placeholder = /\$\{[^}]*\}/.exec(lines[line - 1] ?? '')?.[0];
    if (placeholder === undefined) continue;
    unquoted.set(line, `line ${line}: ${placeholder} needs quotes inside { } or [ ], such as '${placeholder}'`);
  }
  return [...(unquoted.size > 0 ? unquoted : byLine).values()];
}

/** Returns the problem of an alias: `*name` without `&name` before it, or too many of them. */
export function aliasProblem({ message }: Error): string {
  const name = /^Unresolved alias .*: (.*)$/s.exec(message)?.[1];
  return name === undefined
    ? 'the file uses too many aliases (*name)'
    : `the alias *${name} has no anchor &${name} before it`;
}
