import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { loadConfig } from '../../../src/platform/config/load-config.js';
import { ConfigReload } from '../../../src/models/config-reload.js';
import { ChatPlugin } from '../../../src/plugin-api/chat-plugin.decorator.js';
import { PLUGIN_CONFIG } from '../../../src/plugin-api/plugin-configs.js';
import { configFor, createTestService, ScriptedProvider } from '../../../src/testing.js';
import { configFile, routesTo } from '../../support/catalog.js';
import { startService, type RunningService } from '../../support/service.js';

const Config = z.strictObject({ words: z.array(z.string()).default([]), note: z.string().optional() });

@Injectable()
class Words {
  constructor(@Inject(PLUGIN_CONFIG) readonly config: z.infer<typeof Config>) {}
}

@ChatPlugin({
  name: 'words',
  compatibility: '^1',
  config: Config,
  liveConfig: true,
  tier: z.strictObject({ pages: z.int().default(1) }),
  providers: [Words],
})
class WordsPlugin {}

@Injectable()
class Fixed extends Words {}

@ChatPlugin({ name: 'fixed', compatibility: '^1', config: Config, providers: [Fixed] })
class FixedPlugin {}

const routes = routesTo(['http://127.0.0.1:9']);
const tiersWith = (plugins?: object) => ({ free: { plugins } });
let folder: string;
let service: RunningService;

const FIRST = { words: { words: ['one'], note: 'first' }, fixed: { words: ['one'] } };
const FIRST_TIERS = tiersWith({ words: { pages: 3 } });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plugin-reload-'));
  const plugins = [WordsPlugin, FixedPlugin];
  service = await startService({ ...routes, plugins, pluginConfigs: FIRST, tiers: FIRST_TIERS });
});
afterEach(async () => {
  await reload(FIRST, FIRST_TIERS);
  vi.restoreAllMocks();
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

/** Applies another file. Returns the lines of the log. */
async function reload(pluginConfigs: Readonly<Record<string, object>>, tiers = tiersWith()): Promise<string[]> {
  const lines: string[] = [];
  for (const level of ['log', 'warn', 'error'] as const)
    vi.spyOn(Logger.prototype, level).mockImplementation((line: unknown) => void lines.push(String(line)));
  const path = join(folder, 'catalog.json');
  await writeFile(path, configFile({ ...routes, pluginConfigs }, tiers));
  service.app
    .get(ConfigReload, { strict: false })
    .apply(() => loadConfig({ DATABASE_URL: 'sqlite::memory:', CONFIG_FILE: path }));
  return lines;
}

const of = <T>(type: new (...injected: never[]) => T): T => service.app.get(type, { strict: false });
const ofTier = () => of(AccountsService).tierOf({ tier: 'free' }).plugins;

describe('a changed CONFIG_FILE', () => {
  it('has the configuration of a plugin at once if the plugin takes it, and otherwise after a restart', async () => {
    const { config } = of(Words);
    const lines = await reload({ words: { words: ['two'] }, fixed: { words: ['two'] } });
    expect(config).toEqual({ words: ['two'] });
    expect(of(Fixed).config).toEqual({ words: ['one'] });
    expect(lines.join()).toContain('plugins.fixed has changed, and the plugin uses it after a restart');
    expect(lines.join()).not.toContain('plugins.words');
  });

  it('is refused as a whole if the configuration of a plugin is invalid', async () => {
    const lines = await reload({ words: { words: 'two' }, fixed: { words: ['one'] } });
    expect(lines).toEqual([expect.stringMatching(/stays in use: .*plugins\.words\.words: /)]);
    expect(of(Words).config).toEqual({ words: ['one'], note: 'first' });
    expect(ofTier()).toEqual({ words: { pages: 3 } });
  });
});

describe('the members of a plugin in a tier', () => {
  it('are checked, have defaults, and change with the file', async () => {
    expect(ofTier()).toEqual({ words: { pages: 3 } });
    await reload({});
    expect(ofTier()).toEqual({ words: { pages: 1 } });
    await reload({}, tiersWith({ words: { pages: 7 } }));
    expect(ofTier()).toEqual({ words: { pages: 7 } });
  });

  it.each([
    ['tiers.free.plugins.words.pages: ', { words: { pages: 'many' } }],
    ['tiers.free.plugins.fixed: the plugin fixed has no options', { fixed: {} }],
    ['tiers.free.plugins.others: there is no plugin of this name', { others: {} }],
  ])('are refused by name: %s', async (problem, plugins) => {
    expect((await reload({}, tiersWith(plugins))).join()).toContain(problem);
    expect(ofTier()).toEqual({ words: { pages: 3 } });
  });
});

it('of a service of the test kit changes without a file', async () => {
  const provider = await ScriptedProvider.start();
  const plugins = (words: unknown) => ({ ...configFor(provider), plugins: { words: { words } } });
  const tested = await createTestService({ plugins: [WordsPlugin], config: plugins(['one']) });
  const { config } = tested.app.get(Words, { strict: false });
  expect([tested.reconfigure(plugins(['two'])), config.words]).toEqual([true, ['two']]);
  expect([tested.reconfigure(plugins('many')), config.words]).toEqual([false, ['two']]);
  await tested.stop();
  await provider.stop();
});
