import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SpawnedProcess } from '../support/process.js';
import { waitFor } from '../support/wait-for.js';

const run = promisify(execFile);

const ROOT = dirname(dirname(import.meta.dirname));
const folders = await readdir(join(ROOT, 'src', 'plugins'), { withFileTypes: true });
const PLUGINS = folders.filter((entry) => entry.isDirectory()).map(({ name }) => name);

const DATABASE = 'database';
/** The programs that are parts of plugins. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = { admin: ['admin'] };
/** The tests of the core. Their files use nothing of `src/plugins`, which the types of a checkout without plugins prove. */
const CORE_TESTS = [
  ...['accounts', 'auth', 'chat', 'models', 'platform', 'throttling', 'upstreams', 'usage'].map(
    (name) => `unit/${name}`,
  ),
  ...['chat/stream-wire', 'chat/client-leaves', 'chat/faults', 'models'].map((name) => `e2e/${name}`),
];

const CORE = ['src', ...CORE_TESTS.map((path) => `test/${path}*`)];

/** A checkout of the service, from which plugins are taken out. */
class Checkout {
  private constructor(readonly folder: string) {}

  static async create(): Promise<Checkout> {
    const checkout = new Checkout(await mkdtemp(join(tmpdir(), 'chat-without-plugins-')));
    await checkout.copy('deploy/build', 'docs', 'examples', 'package.json', 'nest-cli.json', 'test');
    await checkout.copy('tsconfig.json', 'tsconfig.build.json', '.eslintrc.js');
    await symlink(join(ROOT, 'node_modules'), join(checkout.folder, 'node_modules'));
    return checkout;
  }

  /** Takes these plugins out, and puts all others back. */
  async takeOutOnly(plugins: readonly string[]): Promise<void> {
    for (const path of ['src', DATABASE]) await rm(join(this.folder, path), { recursive: true, force: true });
    await this.copy('src');
    for (const plugin of plugins) await this.takeOut(plugin);
  }

  async copy(...paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      await cp(join(ROOT, path), join(this.folder, path), { recursive: true, filter: isOfCheckout });
    }
  }

  /** Removes the folder of a plugin, its lines in the list of plugins, and its programs. */
  private async takeOut(plugin: string): Promise<void> {
    const source = join(this.folder, 'src');
    const list = join(source, 'plugins', 'index.ts');
    await writeFile(list, withoutPlugin(await readFile(list, 'utf8'), plugin));
    await rm(join(source, 'plugins', plugin), { recursive: true });
    for (const program of PROGRAMS[plugin] ?? []) await unlink(join(source, `${program}.ts`));
  }

  /** Checks the types of these files. What has not changed since the last check is not checked again. */
  async typesOf(files: readonly string[]): Promise<void> {
    const name = 'tsconfig.core.json';
    const compilerOptions = { incremental: true, noEmit: true, tsBuildInfoFile: `${name}.buildinfo` };
    const config = { extends: './tsconfig.json', compilerOptions, include: files, exclude: [] };
    await writeFile(join(this.folder, name), JSON.stringify(config));
    await this.run('node_modules/typescript/bin/tsc', '-p', name);
  }

  /** Checks the rules of lint. A file that has not changed since the last check imports the same, and is not checked again. */
  lint(): Promise<void> {
    const cache = ['--cache', '--cache-strategy', 'content', '--cache-location', '.eslintcache'];
    return this.run(
      'node_modules/eslint/bin/eslint.js',
      '--config',
      '.eslintrc.js',
      '--max-warnings',
      '0',
      ...cache,
      'src',
    );
  }

  build(): Promise<void> {
    return this.run('deploy/build/build.mjs');
  }

  async run(script: string, ...words: string[]): Promise<void> {
    try {
      await run(process.execPath, [join(this.folder, script), ...words], {
        cwd: this.folder,
        maxBuffer: 64 * 1024 * 1024,
      });
    } catch (error) {
      // Not as the cause: it has the whole output.
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`${basename(script)} failed:\n${stdout.slice(-4_000)}\n${stderr.slice(-2_000)}`);
    }
  }

  /** Starts the service as a developer does. */
  start(): SpawnedProcess {
    return new SpawnedProcess(join(this.folder, 'dist', 'main.js'), [], {
      NODE_ENV: 'development',
      PORT: '0',
      METRICS_PORT: '0',
      DATABASE_URL: `sqlite:${join(this.folder, DATABASE, 'chat.sqlite')}`,
    });
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

function isOfCheckout(path: string): boolean {
  return !/\/(?:node_modules|output|generated-types)(?:\/|$)/.test(path.slice(ROOT.length));
}

/** Returns the list of plugins without the lines that import the plugin, and without its class in the list. */
function withoutPlugin(list: string, plugin: string): string {
  const [, className = ''] = new RegExp(`import \\{ (\\w+) \\} from '\\./${plugin}/`).exec(list) ?? [];
  return list
    .split('\n')
    .filter((line) => !line.includes(`'./${plugin}/`))
    .join('\n')
    .replace(new RegExp(`\\b${className},\\s*|,?\\s*\\b${className}\\b,?(?=\\s*\\])`), '');
}

/** The key of the development account, which the first start prints. */
async function keyShownBy(service: SpawnedProcess): Promise<string> {
  const [, key = ''] = await waitFor(() => /API key +(csk_\w+)/.exec(service.stdout) ?? undefined, 'an API key');
  return key;
}

/** What a process uses, from its start until now. */
async function usageOf(pid: number) {
  const [status, stat] = await Promise.all(['status', 'stat'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8')));
  const [, residentKb = ''] = /VmRSS:\s+(\d+) kB/.exec(status ?? '') ?? [];
  const [userTicks = 0, systemTicks = 0] = (stat ?? '').split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? [];
  return { residentMb: Math.round(Number(residentKb) / 1024), cpuSeconds: (userTicks + systemTicks) / 100 };
}

describe('the service', { timeout: 600_000 }, () => {
  const measured: string[] = [];
  let checkout: Checkout;
  beforeAll(async () => {
    checkout = await Checkout.create();
  });
  afterAll(async () => {
    await checkout.remove();
    console.log(['', 'Without …: resident MB at rest, CPU seconds from the start', ...measured, ''].join('\n'));
  });

  const streamsWithout = async (plugins: readonly string[]): Promise<void> => {
    const service = checkout.start();
    try {
      const origin = await service.origin();
      const key = await keyShownBy(service);
      const body = JSON.stringify({ model: 'builtin/eliza', messages: [{ role: 'user', content: 'Hello!' }] });
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
      const response = await fetch(`${origin}/api/v1/chat/stream`, { method: 'POST', headers, body });
      expect(response.status).toBe(200);
      expect(await response.text()).toMatch(/"done":true/);
      const { residentMb, cpuSeconds } = await usageOf(service.pid);
      measured.push(`${plugins.join(', ') || 'none of them'}: ${residentMb} MB, ${cpuSeconds} s`);
    } finally {
      await service.stop();
    }
  };

  it('with all plugins is the measure for the others', async () => {
    await checkout.takeOutOnly([]);
    await checkout.typesOf(CORE);
    await checkout.lint();
    await checkout.build();
    await streamsWithout([]);
  });

  it.each([...PLUGINS.map((plugin) => [plugin]), PLUGINS].map((plugins) => [plugins.join(', '), plugins] as const))(
    'has no type error and no warning without %s, passes the tests of the core, starts and streams',
    async (_, plugins) => {
      await checkout.takeOutOnly(plugins);
      await checkout.typesOf(CORE);
      await checkout.lint();
      await checkout.build();
      // As in CI, what fails once runs once more.
      const options = [
        '--retry',
        '1',
        '--config',
        'test/vitest.config.ts',
        '--project',
        'together',
        '--project',
        'alone',
      ];
      await checkout.run('node_modules/vitest/vitest.mjs', 'run', ...options, ...CORE_TESTS);
      await streamsWithout(plugins);
    },
  );
});
