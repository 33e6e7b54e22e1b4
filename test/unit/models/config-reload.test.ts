import { afterEach, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import type { Config } from '../../../src/config/config.js';
import { ConfigReload } from '../../../src/models/config-reload.js';

afterEach(() => {
  vi.restoreAllMocks();
});

it('a changed file replaces all members of the configuration that it sets, and no others', () => {
  vi.spyOn(Logger.prototype, 'log').mockReturnValue();
  const members = ['upstreams', 'models', 'leftOut', 'tiers', 'defaultTier', 'currency', 'catalogHash'];
  const all = (value: string) =>
    Object.fromEntries([...members, 'port', 'databaseUrl'].map((name) => [name, `${value} ${name}`]));
  const config = all('old');
  const none = { connect: vi.fn(), configure: vi.fn() };
  const reload = Reflect.construct(ConfigReload, [config, none, none, { succeeded: 0, failed: 0 }]) as ConfigReload;

  expect(reload.apply(() => all('new') as unknown as Config)).toBe(true);

  const changed = Object.keys(config).filter((name) => config[name] === `new ${name}`);
  expect(changed).toEqual(members);
});
