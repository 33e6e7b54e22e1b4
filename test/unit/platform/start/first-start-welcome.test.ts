import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { DevelopmentAccounts } from '../../../../src/accounts/accounts/development-account.js';
import { welcome } from '../../../../src/platform/start/first-start-welcome.js';
import type { Config } from '../../../../src/platform/config/config.js';

let printed: string;

beforeEach(() => {
  printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});

it.each([true, false])(
  'a start whose database is unavailable afterwards goes on (production: %s)',
  async (production) => {
    const warned = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const fail = () => Promise.reject(new Error('The database is unavailable.'));
    const accounts = { isFirstStart: fail, ensureDevelopmentAccount: fail } as unknown as DevelopmentAccounts;
    await welcome(accounts, { production } as Config, 'http://127.0.0.1:3000', false);
    expect(warned).toHaveBeenCalledWith(expect.objectContaining({ reason: 'Error: The database is unavailable.' }));
  },
);

describe('in development, a first start', () => {
  const account = { email: 'dev@example.com', password: 'secret', key: 'csk_1' };
  const accounts = { ensureDevelopmentAccount: () => Promise.resolve(account) } as unknown as DevelopmentAccounts;
  const config = {
    production: false,
    models: [{ id: 'acme/fast' }],
  } as unknown as Config;

  it.each([
    ['http://127.0.0.1:3000', 'http://localhost:3000', 'http://127.0.0.1:3000'],
    ['http://[::1]:3000', 'http://localhost:3000', 'http://[::1]:3000'],
    ['http://0.0.0.0:3000', 'http://localhost:3000', 'http://localhost:3000'],
    ['http://[::]:3000', 'http://localhost:3000', 'http://localhost:3000'],
    ['http://192.0.2.1:3000', 'http://192.0.2.1:3000', 'http://192.0.2.1:3000'],
  ])('at %s shows addresses that work on this machine', async (url, pages, api) => {
    await welcome(accounts, config, url, true);
    expect(printed).toContain(`  ${pages}/sign-in\n`);
    expect(/curl -N '?([^ ']+)/.exec(printed)?.[1]).toBe(`${api}/api/v1/chat/stream`);
  });
});
