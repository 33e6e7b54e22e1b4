import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './documents.js';

const LIMIT_MS = 600_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

const { devDependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A project outside the repository in which the packed package is installed. */
export class InstalledPackage {
  private constructor(readonly folder: string) {}

  /**
   * Packs the built package, and installs it in a new project with TypeScript and with what the test kit needs.
   *
   * @throws {Error} with the output of npm if it fails.
   */
  static async install(): Promise<InstalledPackage> {
    const folder = mkdtempSync(join(tmpdir(), 'chat-package-'));
    const project = new InstalledPackage(folder);
    try {
      const [packed] = JSON.parse(await execute(ROOT, 'npm', ['pack', '--json', '--pack-destination', folder])) as {
        filename: string;
      }[];
      const packages = [
        join(folder, packed?.filename ?? ''),
        `typescript@${devDependencies?.['typescript'] ?? ''}`,
        ...Object.keys(peerDependenciesMeta ?? {}).map((name) => `${name}@${peerDependencies?.[name] ?? ''}`),
      ];
      project.write('package.json', { name: 'team', private: true, type: 'module' });
      await execute(folder, 'npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages]);
      return project;
    } catch (error) {
      await project.remove();
      throw error;
    }
  }

  path(...names: readonly string[]): string {
    return join(this.folder, ...names);
  }

  write(name: string, content: string | object): void {
    writeFileSync(this.path(name), typeof content === 'string' ? content : JSON.stringify(content));
  }

  /** Copies a file or a folder of the repository. */
  copy(from: string, to: string): void {
    cpSync(from, this.path(to), { recursive: true });
  }

  /**
   * Runs a program of an installed package, and returns its standard output.
   *
   * @param env variables in addition to those of this process.
   * @throws {Error} with the output if the program fails.
   */
  run(program: string, words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    return execute(this.folder, this.path('node_modules', '.bin', program), words, env);
  }

  /** As {@link run}, for a script of the project. */
  node(script: string, words: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
    return execute(this.folder, process.execPath, [script, ...words], env);
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

function execute(
  cwd: string,
  program: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { ...outerEnvironment(), ...env }, timeout: LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES };
    execFile(program, words, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${program} ${words.join(' ')} failed:\n${stdout}${stderr}`, { cause: error }));
    });
  });
}

/** The environment without what npm and vitest set for this run. */
function outerEnvironment(): NodeJS.ProcessEnv {
  const own = /^(?:npm_(?!config_(?:cache|registry|userconfig|nodedir))|VITEST|NODE_ENV|NODE_OPTIONS|INIT_CWD)/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}
