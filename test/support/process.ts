import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { adminCommand } from './admin-command.js';
import { waitFor } from './wait-for.js';

const ROOT = dirname(dirname(import.meta.dirname));
const START_LIMIT_MS = 90_000;

export interface Exit {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A script of the built service that runs as a process of its own. */
export class SpawnedProcess {
  stdout = '';
  stderr = '';
  readonly exited: Promise<Exit>;
  private readonly child: ChildProcess;

  constructor(script: string, words: readonly string[], env: Readonly<Record<string, string>>) {
    this.child = spawn(process.execPath, [join(ROOT, 'dist', script), ...words], {
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

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** The address that it listens on, once it does. */
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

  /** Ends it, whatever it does. */
  async stop(): Promise<void> {
    if (!this.hasExited) this.child.kill('SIGKILL');
    await this.exited;
  }
}

/** A folder with a database file and a CONFIG_FILE for processes to share. */
export class Installation {
  private readonly running: SpawnedProcess[] = [];

  private constructor(
    readonly folder: string,
    readonly env: Readonly<Record<string, string>>,
  ) {}

  /** @param env for every process over the usual, such as another database. */
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

  /** What a command of `npm run admin` prints. */
  async adminText(...words: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await adminCommand(this.env, words);
    if (exitCode !== 0) throw new Error(stderr);
    return stdout;
  }

  /** The same, as the JSON that it is. */
  async admin(...words: string[]): Promise<Record<string, string>> {
    return JSON.parse(await this.adminText(...words)) as Record<string, string>;
  }

  /** A new account's new key. */
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
