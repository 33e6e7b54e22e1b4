import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ChatClient } from '../../src/client.js';
import { configFile } from '../support/catalog.js';
import { SpawnedProcess } from '../support/process.js';
import { AcmeProvider } from './acme-provider.js';
import { InstalledPackage } from './installed-package.js';

/** The application that a team writes. */
const EXAMPLE = join(import.meta.dirname, 'example-app');
const MAIN = join('example-app', 'main.js');
const TEST_OF_TEAM = join(import.meta.dirname, 'team.test.ts');

const MODEL = 'acme/talker';
const EMAIL = 'ada@example.com';
const EVENTS =
  'event: token\ndata: {"t":"Hel"}\n\nevent: token\ndata: {"t":"lo"}\n\nevent: end\ndata: {"why":"done","in":3,"out":2}\n\n';

/** The declarations of all packages are checked. */
const TSCONFIG = {
  compilerOptions: {
    ...{ module: 'nodenext', target: 'es2023', rootDir: '.', outDir: 'dist', strict: true, skipLibCheck: false },
    ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noImplicitOverride: true },
    ...{ experimentalDecorators: true, emitDecoratorMetadata: true, types: ['node'] },
  },
  include: ['example-app', '*.ts'],
};

const VITEST_CONFIG = `export default {
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  test: { include: ['*.test.ts'] },
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
  let acme: AcmeProvider;

  beforeAll(async () => {
    acme = await AcmeProvider.start();
    acme.events = EVENTS;
    project = await InstalledPackage.install();
    const model = { id: MODEL, name: 'Talker', provider: 'Acme', context_length: 8192 };
    const upstreams = { acme: { protocol: 'acme', base_url: acme.baseUrl, api_key: 'acme-secret' } };
    const config = configFile({ upstreams, models: [{ ...model, routes: [{ upstream: 'acme', model: 'talker-1' }] }] });
    project.write('config.json', config);
    project.write('tsconfig.json', TSCONFIG);
    project.write('vitest.config.js', VITEST_CONFIG);
    project.copy(EXAMPLE, 'example-app');
    project.copy(TEST_OF_TEAM, 'team.test.ts');
    project.env = {
      ...{ NODE_ENV: 'production', PORT: '0', LOG_LEVEL: 'info', CONFIG_FILE: project.path('config.json') },
      DATABASE_URL: `sqlite:${project.path('data', 'chat.sqlite')}`,
    };
  }, 900_000);
  afterAll(async () => {
    project.remove();
    await acme.stop();
  });

  const installed = (...names: string[]) => project.path('node_modules', 'chat-streaming-service', ...names);

  it('has the documents, and no sources or tests', () => {
    expect(readdirSync(installed())).toEqual(
      expect.arrayContaining(['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'docs', 'package.json']),
    );
    expect(readdirSync(installed()).filter((name) => ['src', 'test', 'deploy', '.ci'].includes(name))).toEqual([]);
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

  it('compiles with an application, with every declaration checked', async () => {
    expect(await project.run('tsc', '-p', project.path('tsconfig.json'))).toBe('');
  });

  it('streams an answer through the application', async () => {
    await project.run('tsc', '-p', project.path('tsconfig.json'));
    const account = ['--email', EMAIL, '--password', 'correct horse battery'];
    await project.run('chat-streaming-service-admin', 'account', 'create', ...account);
    const made = await project.run('chat-streaming-service-admin', 'key', 'create', '--email', EMAIL, '--name', 'test');
    const { key } = JSON.parse(made) as { readonly key: string };

    const app = new SpawnedProcess(project.path('dist', MAIN), [], project.env);
    try {
      const chat = new ChatClient({ baseUrl: await app.origin(), apiKey: key });
      const stream = chat.stream({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }] });
      const texts: string[] = [];
      for await (const text of stream) texts.push(text);
      expect(texts.join('')).toBe('Hello');
      expect(stream.state.status).toBe('complete');
      app.signal('SIGTERM');
      expect(await app.exited).toMatchObject({ code: 0 });
    } finally {
      await app.stop();
    }
  });

  it('starts as a program, without an application', async () => {
    const service = new SpawnedProcess(project.path('node_modules', '.bin', 'chat-streaming-service'), [], {
      PORT: '0',
      DATABASE_URL: `sqlite:${project.path('data', 'other.sqlite')}`,
    });
    try {
      const response = await fetch(`${await service.origin()}/api/v1/health`);
      expect(await response.json()).toMatchObject({ status: 'healthy' });
    } finally {
      await service.stop();
    }
  });

  it("passes the tests of the team, with the team's own vitest", async () => {
    expect(await project.run('vitest', 'run', '--reporter=verbose')).toMatch(/Tests\D+2 passed/);
  });
});
