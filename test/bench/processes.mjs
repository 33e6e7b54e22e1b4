// Starts the processes of a bench, reads their resource usage, and makes sure that they end with the bench.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const PROBE = new URL('probe.mjs', import.meta.url).href;

/** @type {Set<MeasuredProcess>} */
const running = new Set();

export const runningProcesses = () => [...running];
/** @type {string[]} */
const temporaryFolders = [];

process.on('exit', () => {
  for (const one of running) one.kill();
  for (const folder of temporaryFolders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

/** Creates a folder that is removed when this process exits. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'chat-bench-'));
  temporaryFolders.push(folder);
  return folder;
}

/** A Node process under measurement. */
export class MeasuredProcess {
  #child;
  #stdout = '';
  #stderr = '';
  #probes = 0;
  /** @type {Promise<number | string>} exit code or signal */
  exited;
  exit;

  /**
   * @param {string} name
   * @param {readonly string[]} command `node`, its flags, the script, its arguments
   * @param {Record<string, string>} environment variables in addition to PATH and HOME
   * @param {string} [binary] the path of the Node binary
   */
  constructor(name, command, environment, binary = process.execPath) {
    const [node, ...rest] = command;
    if (node !== 'node') throw new Error(`${name}: only a node command can be measured, not ${node}.`);
    this.name = name;
    this.#child = spawn(binary, ['--import', PROBE, ...rest], {
      cwd: REPOSITORY,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    running.add(this);
    // The end of the output is enough to explain a failure.
    this.#child.stdout.on('data', (text) => (this.#stdout = (this.#stdout + text).slice(-4000)));
    this.#child.stderr.on('data', (text) => (this.#stderr = (this.#stderr + text).slice(-4000)));
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        running.delete(this);
        this.exit = code ?? signal;
        resolve(this.exit);
      });
    });
  }

  /** Waits until the process prints `{"port":…}`, and returns the port. */
  reportedPort() {
    return this.until('reports its port', () => {
      const line = /^\{"port":(\d+)\}$/m.exec(this.#stdout);
      return line === null ? undefined : Number(line[1]);
    });
  }

  /**
   * Waits for a condition.
   *
   * @template Result
   * @param {string} what
   * @param {() => Result | undefined | Promise<Result | undefined>} condition
   * @returns {Promise<Result>}
   * @throws {Error} with the end of the output, if the process exits first, or after 30 s
   */
  async until(what, condition) {
    const deadline = performance.now() + 30_000;
    for (;;) {
      const result = await condition();
      if (result !== undefined) return result;
      if (this.exit !== undefined)
        throw new Error(`${this.name} ended with ${this.exit} before it ${what}.\n${this.output}`);
      if (performance.now() > deadline) throw new Error(`${this.name}: not within 30 s: ${what}.\n${this.output}`);
      await sleep(20);
    }
  }

  get output() {
    return `${this.#stdout}${this.#stderr}`.trim();
  }

  /**
   * @param {'read' | 'collect' | 'reset-peak'} probe whether to collect garbage, or to reset the peak, before reading
   * @returns {Promise<import('./probe.mjs').Usage>}
   */
  async usage(probe = 'read') {
    return (await this.#ask(probe)).usage;
  }

  /** The functions that allocate memory while the action runs, the largest first. */
  async allocations(action) {
    await this.#ask('start-sampling');
    await action();
    return (await this.#ask('stop-sampling')).allocations;
  }

  #ask(probe) {
    const id = (this.#probes += 1);
    return new Promise((resolve, reject) => {
      const onExit = () => reject(new Error(`${this.name} ended with ${this.exit}.\n${this.output}`));
      const onMessage = (message) => {
        if (message?.probe !== id) return;
        this.#child.off('message', onMessage);
        this.#child.off('exit', onExit);
        resolve(message);
      };
      this.#child.on('message', onMessage);
      this.#child.once('exit', onExit);
      this.#child.send({ probe, id });
    });
  }

  kill() {
    this.#child.kill('SIGKILL');
  }

  /** Sends SIGTERM, and SIGKILL after 10 s. Returns the exit code or the signal. */
  async stop() {
    if (this.exit !== undefined) return this.exit;
    this.#child.kill('SIGTERM');
    const force = setTimeout(() => this.kill(), 10_000);
    const exit = await this.exited;
    clearTimeout(force);
    return exit;
  }
}

/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A port that was free a moment ago. @returns {Promise<number>} */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
