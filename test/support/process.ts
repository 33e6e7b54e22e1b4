import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { adminCommand } from './admin-command.js';
import { waitFor } from './wait-for.js';

const ROOT = dirname(dirname(import.meta.dirname));
const START_LIMIT_MS = 90_000;

export interface Exit {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A separate process that runs a script: its path, from the folder of the built service. */
export class SpawnedProcess {
  stdout = '';
  stderr = '';
  readonly exited: Promise<Exit>;
  private readonly child: ChildProcess;

  constructor(script: string, words: readonly string[], env: Readonly<Record<string, string>>) {
    this.child = spawn(process.execPath, [resolve(ROOT, 'dist', script), ...words], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.exited = once(this.child, 'close').then(([code]) => ({
      code: code as number | null,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Stops reading the output, as a program at the end of a pipe does when it ends. */
  closeOutput(): void {
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /**
   * Waits until the service listens, and returns its origin.
   *
   * @throws {Error} if the service exits first, or does not listen within 90 seconds.
   */
  async origin(): Promise<string> {
    const [, origin = ''] = await waitFor(
      () => {
        if (this.hasExited) throw new Error(`The service did not start:\n${this.stderr}`);
        return /Listening on (http:\/\/[\w.:[\]]+)/.exec(this.stdout) ?? undefined;
      },
      'the service to listen',
      START_LIMIT_MS,
    );
    return origin;
  }

  /** Kills the process if it still runs, and waits until it has exited. */
  async stop(): Promise<void> {
    if (!this.hasExited) this.child.kill('SIGKILL');
    await this.exited;
  }
}

/** A folder with a database file and a CONFIG_FILE that several processes share. */
export class Installation {
  private readonly running: SpawnedProcess[] = [];

  private constructor(
    readonly folder: string,
    readonly env: Readonly<Record<string, string>>,
  ) {}

  /** @param env environment variables for every process. They override the defaults, such as DATABASE_URL. */
  static async create(config: string, env: Readonly<Record<string, string>> = {}): Promise<Installation> {
    const folder = await mkdtemp(join(tmpdir(), 'chat-e2e-'));
    const path = join(folder, 'config.yaml');
    await writeFile(path, config);
    const database = `sqlite:${join(folder, 'data', 'chat.sqlite')}`;
    return new Installation(folder, { PORT: '0', DATABASE_URL: database, CONFIG_FILE: path, ...env });
  }

  /** Starts the service; see {@link SpawnedProcess.origin}. */
  start(env: Readonly<Record<string, string>> = {}): SpawnedProcess {
    const service = new SpawnedProcess('main.js', [], { ...this.env, ...env });
    this.running.push(service);
    return service;
  }

  /**
   * Runs a command of `npm run admin`, and returns its standard output.
   *
   * @throws {Error} if the command fails.
   */
  async adminText(...words: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await adminCommand(this.env, words);
    if (exitCode !== 0) throw new Error(stderr);
    return stdout;
  }

  /** Runs a command of `npm run admin`, and parses its standard output as JSON. */
  async admin(...words: string[]): Promise<Record<string, string>> {
    return JSON.parse(await this.adminText(...words)) as Record<string, string>;
  }

  /** Creates an account and an API key for it. */
  async createKey(email = 'someone@example.com'): Promise<{ readonly id: string; readonly key: string }> {
    await this.admin('account', 'create', '--email', email, '--password', 'correct horse battery');
    const { id = '', key = '' } = await this.admin('key', 'create', '--email', email, '--name', 'test');
    return { id, key };
  }

  async remove(): Promise<void> {
    await Promise.all(this.running.map((process) => process.stop()));
    await rm(this.folder, { recursive: true, force: true });
  }
}
