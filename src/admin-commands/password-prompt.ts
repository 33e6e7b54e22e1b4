import { createInterface } from 'node:readline';
import { Writable, type Readable } from 'node:stream';
import { Misuse } from './misuse.js';

/**
 * Asks for a new password twice. The terminal does not show the typed characters.
 *
 * @throws {Misuse} when the two passwords differ, when a password is empty, and on Ctrl-C or Ctrl-D.
 */
export async function promptTwice(input: Readable, output: Writable): Promise<string> {
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
