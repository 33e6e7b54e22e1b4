import { parseDocument, type YAMLParseError } from 'yaml';
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { ConfigFile } from './config-file.js';
import { zodProblems } from '../model-of.js';

/**
 * Returns the first problem of each line, because the parser reports several problems for one mistake. A variable without
 * quotes also spoils the lines after it, so only such variables are reported if there are any.
 */
function syntaxProblems(errors: readonly YAMLParseError[], source: string): string[] {
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
function aliasProblem({ message }: Error): string {
  const name = /^Unresolved alias .*: (.*)$/s.exec(message)?.[1];
  return name === undefined
    ? 'the file uses too many aliases (*name)'
    : `the alias *${name} has no anchor &${name} before it`;
}

export interface ReadConfigFile {
  readonly file?: ConfigFile;
  /** The beginning of the SHA-256 of the file. */
  readonly hash?: string;
  readonly problems: string[];
}

const HASH_LENGTH = 12;

function hashOf(source: string): string {
  return createHash('sha256').update(source).digest('hex').slice(0, HASH_LENGTH);
}

/**
 * Returns the content of the file, with `${…}` not yet replaced, or every problem found in the file.
 *
 * @param shownAs the name of the file in the problems.
 */
export function readConfigFile(path: string | URL, shownAs: string): ReadConfigFile {
  let source: string;
  try {
    source = readText(path);
  } catch (error) {
    return { problems: [`${shownAs}: ${unreadableReason(error as NodeJS.ErrnoException)}`] };
  }
  const document = parseDocument(source, { prettyErrors: true });
  if (document.errors.length > 0) {
    return { problems: syntaxProblems(document.errors, source).map((problem) => `${shownAs}: ${problem}`) };
  }
  let content: unknown;
  try {
    content = document.toJS();
  } catch (error) {
    return { problems: [`${shownAs}: ${aliasProblem(error as Error)}`] };
  }
  const result = ConfigFile.safeParse(content);
  return result.success
    ? { file: result.data, hash: hashOf(source), problems: [] }
    : { problems: zodProblems(result.error, [shownAs]) };
}

/** The maximum size of CONFIG_FILE, in bytes. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** Why a file is not read, although it exists. */
class UnsuitableFile extends Error {}

/**
 * Opens without waiting, because a pipe without a writer would wait for ever.
 *
 * @throws {UnsuitableFile} if the path is not a regular file of at most {@link MAX_FILE_BYTES}. A device may have no end.
 */
function readText(path: string | URL): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new UnsuitableFile('the path is not a regular file');
    if (stats.size > MAX_FILE_BYTES) throw new UnsuitableFile('the file is larger than 4 MiB');
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** Returns why {@link readText} has failed, for the operator. */
function unreadableReason(error: NodeJS.ErrnoException): string {
  if (error instanceof UnsuitableFile) return error.message;
  return error.code === 'ENOENT'
    ? 'the file does not exist'
    : `the file cannot be read (${error.code ?? 'unknown error'})`;
}
