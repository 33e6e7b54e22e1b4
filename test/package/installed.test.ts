import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ChatClient } from '../../src/client.js';
import { SpawnedProcess } from '../support/process.js';
import { documentAt, ROOT } from './documents.js';
import { InstalledPackage } from './installed-package.js';

const EXAMPLES = join(ROOT, 'examples');
const TEST_OF_TEAM = join('test', 'package', 'team.test.ts');
const MODEL = 'library/echo';
const ACCOUNT = ['--email', 'ada@example.com'] as const;

/** The declarations of all packages are checked. */
const TSCONFIG = {
  compilerOptions: {
    ...{ module: 'nodenext', target: 'es2023', strict: true, skipLibCheck: false, noEmit: true, types: ['node'] },
    ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noImplicitOverride: true },
    ...{ experimentalDecorators: true, emitDecoratorMetadata: true },
  },
  include: ['test', 'examples/src'],
};

const VITEST_CONFIG = `export default {
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  test: { include: ['test/**/*.test.ts'] },
};
`;

const isWanted = process.env['CI'] === 'true' || process.env['TEST_INSTALLED_PACKAGE'] === 'true';
if (!isWanted) {
  console.warn(
    '\n!!! The tests of the installed package take minutes and are LEFT OUT: set TEST_INSTALLED_PACKAGE=true !!!\n',
  );
}

describe.runIf(isWanted)('the package, installed outside the repository', { timeout: 300_000 }, () => {
  let project: InstalledPackage;

  beforeAll(async () => {
    project = await InstalledPackage.install();
    project.write('tsconfig.json', TSCONFIG);
    project.write('vitest.config.js', VITEST_CONFIG);
    project.copy(EXAMPLES, 'examples');
    project.copy(join(ROOT, TEST_OF_TEAM), TEST_OF_TEAM);
  }, 900_000);
  afterAll(() => project.remove(), 300_000);

  const environment = (database: string) => ({
    ...{ NODE_ENV: 'production', PORT: '0', LOG_LEVEL: 'info' },
    DATABASE_URL: `sqlite:${project.path('data', database)}`,
  });
  const installed = (...names: string[]) => project.path('node_modules', 'chat-streaming-service', ...names);

  it('has the documents and the examples, and no sources or tests', () => {
    expect(readdirSync(installed())).toEqual(
      expect.arrayContaining(['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'docs', 'examples', 'package.json']),
    );
    expect(readdirSync(installed()).filter((name) => ['src', 'test', '.ci'].includes(name))).toEqual([]);
  });

  it('shares every peer with the application', () => {
    const { peerDependencies } = JSON.parse(readFileSync(installed('package.json'), 'utf8')) as {
      readonly peerDependencies: Readonly<Record<string, string>>;
    };
    const names = Object.keys(peerDependencies);
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !existsSync(project.path('node_modules', name)))).toEqual([]);
    expect(names.filter((name) => existsSync(installed('node_modules', name)))).toEqual([]);
  });

  it('has two programs that can be executed', () => {
    for (const program of ['chat-streaming-service', 'chat-streaming-service-admin']) {
      expect(statSync(project.path('node_modules', '.bin', program)).mode & 0o111, program).toBe(0o111);
    }
  });

  it('compiles with the examples and the tests of a team, with every declaration checked', async () => {
    expect(await project.run('tsc', ['-p', project.path('tsconfig.json')])).toBe('');
  });

  it('compiles with the examples by the tsconfig.json that docs/extending.md has', async () => {
    const [, json = ''] =
      /Write `tsconfig\.json`.*?```json\n(.*?)```/s.exec(documentAt('docs/extending.md').text) ?? [];
    const documented = JSON.parse(json) as { readonly compilerOptions: object };
    const compilerOptions = { ...documented.compilerOptions, rootDir: '.', noEmit: true };
    project.write('tsconfig.team.json', { compilerOptions, include: ['examples/src'] });
    expect(await project.run('tsc', ['-p', project.path('tsconfig.team.json')])).toBe('');
  });

  it('streams an answer through the example application', async () => {
    await project.run('tsc', ['-p', project.path('examples')]);
    const env = {
      ...environment('examples.sqlite'),
      CONFIG_FILE: project.path('examples', 'config.yaml'),
      TMPDIR: project.folder,
    };
    const admin = (...words: string[]) => project.node(project.path('examples', 'dist', 'admin.js'), words, env);
    const app = new SpawnedProcess(project.path('examples', 'dist', 'main.js'), [], env);
    try {
      const origin = await app.origin();
      expect(await say('Hello there', origin, await createKey(admin), MODEL)).toBe('Hello there');
      app.signal('SIGTERM');
      expect(await app.exited).toMatchObject({ code: 0 });
    } finally {
      await app.stop();
    }
  });

  it('streams an answer as a program of its own', async () => {
    const env = environment('own.sqlite');
    const admin = (...words: string[]) => project.run('chat-streaming-service-admin', words, env);
    const service = new SpawnedProcess(project.path('node_modules', '.bin', 'chat-streaming-service'), [], env);
    try {
      const origin = await service.origin();
      expect(await say('echo it works', origin, await createKey(admin), 'builtin/eliza')).toBe('it works');
    } finally {
      await service.stop();
    }
  });

  it("passes the tests of a team, with the team's own vitest", async () => {
    const report = await project.run('vitest', ['run', '--reporter=json']);
    expect(JSON.parse(report)).toMatchObject({ success: true, numPassedTests: 2, numFailedTests: 0 });
  });
});

async function createKey(admin: (...words: string[]) => Promise<string>): Promise<string> {
  await admin('account', 'create', ...ACCOUNT, '--password', 'correct horse battery');
  const created = JSON.parse(await admin('key', 'create', ...ACCOUNT, '--name', 'test')) as { readonly key: string };
  return created.key;
}

async function say(content: string, baseUrl: string, apiKey: string, model: string): Promise<string> {
  const stream = new ChatClient({ baseUrl, apiKey }).stream({ model, messages: [{ role: 'user', content }] });
  let text = '';
  for await (const piece of stream) text += piece;
  expect(stream.state).toEqual({ status: 'complete', text });
  return text;
}
