import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ConfigError } from '../../../src/config/config-error.js';
import { loadConfig } from '../../../src/config/load-config.js';
import type { OptionsSchema } from '../../../src/upstreams/contract/options-schema.js';
import type { InProcessProtocol, Protocol } from '../../../src/upstreams/contract/protocol.js';
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
    const opened = new ProtocolRegistry(extensionsOf(PLUGIN_PROTOCOLS, protocols), config);
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
    expect(problems.join('\n')).toContain('CONFIG_FILE.upstreams.gpt.options: the protocol openai has no options');
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
