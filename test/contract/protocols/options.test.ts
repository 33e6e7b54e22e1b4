import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ShedLoad } from '../../../src/platform/common/shed-load.js';
import { TEST_UPSTREAM } from '../../../src/testing/protocols/samples.js';
import type { CredentialSource } from '../../../src/upstreams/contract/credential.js';
import type { Config } from '../../../src/platform/config/config.js';
import { ConfigError } from '../../../src/platform/config/config-error.js';
import { loadConfig } from '../../../src/platform/config/load-config.js';
import type { OptionsSchema } from '../../../src/upstreams/contract/options-schema.js';
import type { InProcessProtocol, Protocol } from '../../../src/upstreams/contract/protocol.js';
import { CredentialSources, PLUGIN_CREDENTIALS } from '../../../src/upstreams/credentials/credential-sources.js';
import { UpstreamConnections } from '../../../src/upstreams/transport/upstream-connections.js';
import { PLUGIN_PROTOCOLS, ProtocolRegistry } from '../../../src/upstreams/protocols/protocol-registry.js';
import { extensionsOf } from '../../support/extensions.js';
import { configFile, routesTo } from '../../support/catalog.js';

/** Registers the protocols for a CONFIG_FILE with these upstreams. */
function registry(
  upstreams: Readonly<Record<string, object>>,
  protocols: readonly Protocol[] = [],
  env: Readonly<Record<string, string>> = {},
): ProtocolRegistry {
  const folder = mkdtempSync(join(tmpdir(), 'chat-options-'));
  const path = join(folder, 'config.yaml');
  const none = routesTo(['http://127.0.0.1:9']);
  try {
    writeFileSync(path, configFile({ ...none, upstreams: { ...none.upstreams, ...upstreams } }));
    const config = loadConfig({ ...env, CONFIG_FILE: path });
    const extensions = extensionsOf(PLUGIN_PROTOCOLS, protocols);
    const connections = new UpstreamConnections(config, new ShedLoad());
    const opened = new ProtocolRegistry(extensions, config, new CredentialSources(extensions, connections));
    opened.onModuleInit();
    return opened;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function problemsOf(...args: Parameters<typeof registry>): readonly string[] {
  try {
    registry(...args);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n').filter((line) => line.includes('CONFIG_FILE'));
    throw error;
  }
  throw new Error('The options were accepted.');
}

const withOptions = (options?: OptionsSchema): InProcessProtocol => ({
  transport: 'in-process',
  name: 'team',
  ...(options && { options }),
  // eslint-disable-next-line @typescript-eslint/require-await -- is not called.
  async *stream() {
    yield { type: 'complete', last: true };
  },
});
const anthropic = (options: object) => ({
  claude: { protocol: 'anthropic', base_url: 'https://api.example.com', options },
});

describe('the options of an upstream', () => {
  it('are the defaults of the protocol where the file has none', () => {
    const upstreams = { claude: { protocol: 'anthropic', base_url: 'https://api.example.com' } };
    expect(registry(upstreams).of({ name: 'claude' }).upstream.options).toEqual({ prompt_caching: true });
  });

  it('reach the protocol as its schema returns them', () => {
    const schema = z.strictObject({ region: z.string().transform((region) => region.toUpperCase()) });
    const upstreams = { team: { protocol: 'team', options: { region: 'eu' } } };
    const { upstream } = registry(upstreams, [withOptions(schema)]).of({ name: 'team' });
    expect(upstream.options).toEqual({ region: 'EU' });
  });

  it.each([
    ['unknown', { prompt_cache: true }, /^.*CONFIG_FILE\.upstreams\.claude\.options.*prompt_cache/],
    ['of another type', { prompt_caching: 'yes' }, /CONFIG_FILE\.upstreams\.claude\.options\.prompt_caching: /],
  ])('are refused by path when one is %s', (_, options, problem) => {
    const problems = problemsOf(anthropic(options));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });

  it('are refused with the path of a nested member, whatever the form of the path', () => {
    const schema: OptionsSchema = {
      '~standard': {
        version: 1,
        validate: () => ({ issues: [{ message: 'is not a region', path: ['regions', { key: 0 }, 'name'] }] }),
      },
    };
    expect(problemsOf({ team: { protocol: 'team', options: {} } }, [withOptions(schema)])[0]).toContain(
      'CONFIG_FILE.upstreams.team.options.regions.0.name: is not a region',
    );
  });

  it('are refused for a protocol without options', () => {
    const upstreams = { team: { protocol: 'team', options: {} }, gpt: { protocol: 'openai', options: { x: 1 } } };
    const problems = problemsOf({ ...upstreams, gpt: { ...upstreams.gpt, base_url: 'https://api.example.com' } }, [
      withOptions(),
    ]);
    expect(problems.join('\n')).toContain('CONFIG_FILE.upstreams.team.options: the protocol team has no options');
    expect(problems.join('\n')).toMatch(/CONFIG_FILE\.upstreams\.gpt\.options: .*"x"/);
  });

  it('are reported together with all other problems of the upstreams', () => {
    const problems = problemsOf({
      ...anthropic({ prompt_caching: 7 }),
      nameless: { protocol: 'brand-new' },
      addressless: { protocol: 'openai' },
    });
    expect(problems).toHaveLength(3);
  });

  it('are refused where the file has no object', () => {
    expect(problemsOf({ team: { protocol: 'team', options: 'eu' } }, [withOptions(z.unknown())])[0]).toContain(
      'CONFIG_FILE.upstreams.team.options: ',
    );
  });

  it('may hold variables of the environment at any depth', () => {
    const options = { list: ['${REGION}', 7], nested: { role: 'arn:${ACCOUNT:-none}:${REGION}', on: true } };
    const protocols = [withOptions(z.unknown())];
    const { upstream } = registry({ team: { protocol: 'team', options } }, protocols, { REGION: 'eu' }).of({
      name: 'team',
    });
    expect(upstream.options).toEqual({ list: ['eu', 7], nested: { role: 'arn:none:eu', on: true } });
  });

  it('with an unset variable make the upstream "not configured"', () => {
    const one = registry({ team: { protocol: 'team', options: { role: '${UNSET_ROLE}' } } }, [
      withOptions(z.unknown()),
    ]);
    expect(() => one.of({ name: 'team' })).toThrow();
  });
});

describe('the credentials of an upstream', () => {
  const upstream = { protocol: 'openai', base_url: 'https://api.example.com/v1' };
  const problemsWith = (credentials: object, members: object = {}) =>
    problemsOf({ cloud: { ...upstream, ...members, credentials } });

  it.each([
    [{ kind: 'kerberos' }, 'credentials.kind: is not one of aws, google, azure, command'],
    [{ kind: 'azure', api_key: 'x' }, 'credentials: Unrecognized key: "api_key"'],
    [{ kind: 'aws', region: 'US East' }, 'credentials.region: must be the name of a region, such as us-east-1'],
    [{ kind: 'google', scopes: [] }, 'credentials.scopes: Too small: expected array to have >=1 items'],
    [{ kind: 'command', command: [] }, 'credentials.command.0: Invalid input: expected string, received undefined'],
  ])('are refused at the start: %o', (credentials, problem) => {
    expect(problemsWith(credentials)).toEqual([expect.stringContaining(`CONFIG_FILE.upstreams.cloud.${problem}`)]);
  });

  it('name a package that is not installed, and can be those of a plugin', async () => {
    const source: CredentialSource = {
      kind: 'vault',
      packages: ['no-such-package'],
      obtain: () => Promise.resolve({ authorize: () => ({ 'x-vault': 'token' }) }),
    };
    const extensions = extensionsOf(PLUGIN_CREDENTIALS, [source]);
    const connections = new UpstreamConnections({ maxStreams: 1 } as Config, new ShedLoad());
    const problems: string[] = [];
    const credentials = { kind: 'vault', options: {} };
    const cache = new CredentialSources(extensions, connections).of({ ...TEST_UPSTREAM, credentials }, problems);
    const npm = 'npm install no-such-package';
    expect(problems).toEqual([`credentials: needs the package no-such-package, which is not installed: ${npm}`]);
    const request = { url: new URL('http://127.0.0.1:9'), headers: {}, body: '' };
    expect(await (await cache?.get())?.authorize(request)).toEqual({ 'x-vault': 'token' });
  });

  it('are refused next to an API key, and for a protocol without requests', () => {
    const azure = { kind: 'azure' };
    expect(problemsWith(azure, { api_key: 'x' })).toEqual([
      expect.stringContaining('cloud.credentials: an upstream has either api_key or credentials'),
    ]);
    expect(problemsWith(azure, { protocol: 'builtin' })).toEqual([
      expect.stringContaining('cloud.credentials: the protocol builtin sends no requests'),
    ]);
  });
});
