import { once } from 'node:events';
import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/platform/config/config-error.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { openAccountsApp } from '../contract/accounts/accounts-app.js';
import { configFile, routesTo } from '../support/catalog.js';
import { Installation } from '../support/process.js';

describe('a start that cannot work', () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await Installation.create(configFile(routesTo(['http://127.0.0.1:9'])));
  });
  afterAll(() => installation.remove());

  /** One message on stderr, without a stack, and exit code 1, at the first try. */
  async function failure(env: Record<string, string>): Promise<string> {
    const { code, stdout, stderr } = await installation.start(env).exited;
    expect(code).toBe(1);
    expect(stdout).not.toContain('Retrying');
    expect(stderr).not.toMatch(/\bat .*:\d+:\d+|node_modules|Error:/);
    return stderr;
  }

  /** The same, of what is found before anything else is started: no process is needed to see it. */
  function configProblem(env: Record<string, string>): string {
    try {
      loadConfig(env);
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      return (error as ConfigError).message;
    }
    throw new Error('It was taken for a configuration that can be served.');
  }

  async function withFile(name: string, content: string): Promise<string> {
    const path = join(installation.folder, name);
    await writeFile(path, content);
    return path;
  }

  it('names every wrong variable at once, and no value', async () => {
    const wrong = {
      PORT: 'secret-1',
      DATABASE_URL: 'mysql://secret-2',
      REDIS_URL: 'secret-3',
      LOG_LEVEL: 'secret-4',
      TRUST_PROXY: 'secret-5',
      SHUTDOWN_GRACE_SECONDS: '-6',
      METRICS_PORT: '65536',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://secret-10',
      SIGN_UP: 'secret-8',
      API_DOCS: 'secret-11',
      CONFIG_FILE: '/nowhere/secret-9.yaml',
    };

    const stderr = await failure(wrong);

    for (const name of Object.keys(wrong)) expect(stderr).toMatch(new RegExp(`^ *- ${name}\\b`, 'm'));
    expect(stderr).not.toMatch(/secret-|-6|65536/);
  });

  it.each<[string, string, RegExp]>([
    ['that is not YAML', 'upstreams: [', /CONFIG_FILE/],
    ['that is empty', '', /CONFIG_FILE/],
    [
      'whose route leads nowhere',
      configFile({ upstreams: {}, models: routesTo(['http://x']).models }),
      /models\.0\.routes\.0\.upstream/,
    ],
  ])('says what is wrong with a CONFIG_FILE %s', async (name, content, problem) => {
    const file = await withFile(`${name.replaceAll(' ', '-')}.yaml`, content);
    expect(configProblem({ CONFIG_FILE: file })).toMatch(problem);
  });

  // Known only where the protocols are.
  it.each<[string, string, RegExp]>([
    [
      'with an unknown protocol',
      configFile(routesTo(['http://x'])).replace('"openai"', '"telepathy"'),
      /upstreams\.acme\.protocol/,
    ],
    [
      'without an address for a provider',
      configFile({
        ...routesTo([]),
        upstreams: { acme: { protocol: 'openai' } },
        models: routesTo(['http://x']).models,
      }),
      /upstreams\.acme\.base_url/,
    ],
  ])('says what is wrong with an upstream %s', async (name, content, problem) => {
    const file = await withFile(`${name.replaceAll(' ', '-')}.yaml`, content);
    expect(await failure({ CONFIG_FILE: file })).toMatch(problem);
  });

  it('refuses a CONFIG_FILE that is a device, a folder, a pipe or too large, at once', async () => {
    const link = join(installation.folder, 'endless.yaml');
    await symlink('/dev/zero', link);
    const pipe = join(installation.folder, 'pipe.yaml');
    execFileSync('mkfifo', [pipe]);
    for (const path of [link, pipe, installation.folder]) {
      expect(configProblem({ CONFIG_FILE: path })).toMatch(/CONFIG_FILE: .*not a regular file/);
    }
    const large = await withFile('large.yaml', '#'.repeat(4 * 1024 * 1024 + 1));
    expect(configProblem({ CONFIG_FILE: large })).toMatch(/CONFIG_FILE: .*larger than 4 MiB/);
  });

  it('says in one line that the port is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;

    const { stdout, stderr } = await installation.start({ PORT: String(port) }).exited;
    expect(stderr).toMatch(new RegExp(`^The configuration has a problem: PORT: ${port} .*already in use.*\n$`));
    expect(stdout).not.toContain('EADDRINUSE');

    server.close();
  });

  it('says that the server at the address of DATABASE_URL does not answer', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    expect(await failure({ DATABASE_URL: `postgres://chat@127.0.0.1:${port}/chat` })).toContain(
      `The database postgres://127.0.0.1:${port}/chat cannot be used: a server accepts connections at this address, but it does not answer`,
    );
    other.close();
  });

  it('says that the address is not one of the machine', async () => {
    expect(await failure({ HOST: '192.0.2.1' })).toMatch(/HOST: /);
  });

  it('says that the database cannot be written', async () => {
    const file = await withFile('a-file', '');
    expect(await failure({ DATABASE_URL: `sqlite:${join(file, 'chat.sqlite')}` })).toMatch(/database/i);
  });

  it.each([
    ['a folder', (path: string) => mkdir(path), /is a folder/],
    [
      'not a database',
      (path: string) => writeFile(path, 'This is not a database, whatever its name says. '.repeat(100)),
      /not a SQLite database/,
    ],
  ])('says that the database is %s', async (name, make, problem) => {
    const path = join(installation.folder, name.replaceAll(' ', '-'));
    await make(path);
    await expect(openAccountsApp({ type: 'sqlite', path })).rejects.toThrow(problem);
  });

  it('says that not even root may write the database where it is', async () => {
    const path = '/sys/chat/chat.sqlite';
    await expect(openAccountsApp({ type: 'sqlite', path })).rejects.toThrow(/database/i);
  });
});
