import { createInterface } from 'node:readline';
import { Writable, type Readable } from 'node:stream';
import { Misuse } from './command.js';
import type { CommandContext } from './run-command.js';

/** The limit of the standard input. Far above the longest password. */
const MAX_BYTES = 64 * 1024;

/** How the operator has chosen to enter the password. */
interface PasswordOptions {
  /** The value of `--password`. Every process on the machine can read this value in the process list. */
  readonly password?: string | undefined;
  /** Whether `--password-stdin` is given. */
  readonly fromStdin: boolean;
}

/**
 * Reads the new password from `--password`, from the standard input, or from a prompt that does not show the password.
 *
 * @throws {Misuse} when there is no password, when there is more than one source, or when the input is invalid.
 */
export async function readPassword(
  { password, fromStdin }: PasswordOptions,
  { stdin, stderr }: Pick<CommandContext, 'stdin' | 'stderr'>,
): Promise<string> {
  if (password !== undefined && fromStdin) throw new Misuse('Use either --password or --password-stdin.');
  if (password !== undefined) return password;
  if (fromStdin) return readLine(stdin);
  if (stdin.isTTY === true && stderr.isTTY === true) return promptTwice(stdin, stderr);
  throw new Misuse(
    'The password is missing. Add --password-stdin and send the password to the standard input, or run the command in a ' +
      'terminal, which asks for the password. (--password P also works, but shows the password in the process list.)',
  );
}

/** Reads the standard input to its end. The input must have exactly one line. */
async function readLine(stdin: CommandContext['stdin']): Promise<string> {
  if (stdin.isTTY === true)
    throw new Misuse(
      '--password-stdin needs a pipe or a file. Without this option, the terminal asks for the password.',
    );
  const text = decoded(await readAll(stdin)).replace(/\r?\n$/, '');
  if (text === '') throw new Misuse('The standard input contains no password.');
  if (/[\r\n]/.test(text)) throw new Misuse('The standard input must contain only the password, in one line.');
  return text;
}

async function readAll(stdin: Readable): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stdin as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > MAX_BYTES) throw new Misuse('The standard input is too long for a password.');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Misuse('The password must be UTF-8.');
  }
}

/**
 * Asks for a new password twice. The terminal does not show the typed characters.
 *
 * @throws {Misuse} when the two passwords differ, when a password is empty, and on Ctrl-C or Ctrl-D.
 */
async function promptTwice(input: Readable, output: Writable): Promise<string> {
  const silence = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const terminal = createInterface({ input, output: silence, terminal: true, historySize: 0 });
  terminal.once('SIGINT', () => {
    terminal.close();
  });
  // The iterator keeps a second line that is pasted together with the first line.
  const lines = terminal[Symbol.asyncIterator]();
  const prompt = async (question: string): Promise<string> => {
    output.write(question);
    const line = await lines.next();
    output.write('\n');
    if (line.done === true || line.value === '') throw new Misuse('No password was entered.');
    return line.value;
  };
  try {
    const password = await prompt('New password: ');
    if ((await prompt('New password again: ')) !== password) throw new Misuse('The two passwords differ.');
    return password;
  } finally {
    terminal.close();
  }
}
