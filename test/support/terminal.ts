import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { programAt } from './program.js';
import { waitFor } from './wait-for.js';

const CHAT = join(dirname(dirname(import.meta.dirname)), 'dist', 'chat-cli.js');
export const CTRL_C = '\u0003';

/** Opens a terminal for a program. Programs ask whether they write to a terminal, and a pipe is none. */
export const SCRIPT = programAt('script');

export interface ChatExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm run chat` as a process: with pipes, or in a terminal. */
export class ChatProgram {
  /** What the program has written so far. A terminal shows both outputs as one. */
  stdout = '';
  stderr = '';
  readonly exited: Promise<ChatExit>;

  private constructor(private readonly child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.exited = once(child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  /** @param input the standard input: a pipe with this text. */
  static piped(words: readonly string[], input = '', env: Readonly<Record<string, string>> = {}): ChatProgram {
    const child = spawn(process.execPath, [CHAT, ...words], { env: { PATH: process.env['PATH'], ...env } });
    child.stdin.on('error', () => undefined).end(input);
    return new ChatProgram(child);
  }

  static inTerminal(...words: readonly string[]): ChatProgram {
    const command = [process.execPath, CHAT, ...words].map((word) => `'${word}'`).join(' ');
    return new ChatProgram(spawn(SCRIPT ?? '', ['--quiet', '--flush', '--return', '--command', command, '/dev/null']));
  }

  /** The text on the screen of the terminal. */
  get screen(): string {
    return stripVTControlCharacters(this.stdout).replaceAll('\r', '');
  }

  type(text: string): void {
    this.child.stdin?.write(text);
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Waits until the screen shows the text, after the given number of characters. */
  async shows(text: string | RegExp, after = 0): Promise<void> {
    await waitFor(
      () => {
        const shown = this.screen.slice(after);
        return (typeof text === 'string' ? shown.includes(text) : text.test(shown)) || undefined;
      },
      `${String(text)} in the terminal`,
    );
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
    await this.exited;
  }
}
