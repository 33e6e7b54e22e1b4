import { expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import type { Config } from '../../../src/platform/config/config.js';
import { ConfigReload } from '../../../src/models/config-reload.js';

const MEMBERS = ['upstreams', 'models', 'leftOut', 'tiers', 'defaultTier', 'currency', 'catalogHash'];

/** A configuration whose members are texts that begin with `value`. */
const all = (value: string) =>
  Object.fromEntries([...MEMBERS, 'port', 'databaseUrl'].map((name) => [name, `${value} ${name}`]));

it('a changed file replaces all members of the configuration that it sets, and no others, and is counted', () => {
  vi.spyOn(Logger.prototype, 'log').mockReturnValue();
  const config = all('old');
  const none = { connect: vi.fn(), configure: vi.fn() };
  const use = vi.fn();
  const reloads = { succeeded: 0, failed: 0, check: () => use };
  const reload = Reflect.construct(ConfigReload, [config, none, none, reloads]) as ConfigReload;

  expect(reload.apply(() => all('new') as unknown as Config)).toBe(true);

  const changed = Object.keys(config).filter((name) => config[name] === `new ${name}`);
  expect(changed).toEqual(MEMBERS);
  expect(use).toHaveBeenCalledOnce();
  expect(reloads).toMatchObject({ succeeded: 1, failed: 0, last: { result: 'loaded' } });
});
