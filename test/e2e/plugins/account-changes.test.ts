import { Injectable } from '@nestjs/common';
import { afterEach, describe, expect, it } from 'vitest';
import { AccountStates } from '../../../src/accounts/accounts/account-states.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { ChatPlugin } from '../../../src/plugin-api/chat-plugin.decorator.js';
import { createTestService, type TestService } from '../../../src/testing/service/test-service.js';
import { testEngines, urlOf, type TestDatabase } from '../../support/database.js';
import { waitFor } from '../../support/wait-for.js';

type Change = Parameters<Parameters<AccountsService['onChange']>[0]>[0];

/** A cache of a plugin. */
@Injectable()
class Cache {
  readonly seen: Change[] = [];

  constructor(accounts: AccountsService) {
    accounts.onChange(() => {
      throw new Error('A listener that fails does not affect others.');
    });
    accounts.onChange((change) => this.seen.push(change));
    accounts.onChange((change) => this.seen.push(change))();
  }
}

@ChatPlugin({ name: 'cache', compatibility: '^1', providers: [Cache] })
class CachePlugin {}

describe.each(await testEngines())('a plugin that caches accounts, on $name', (engine) => {
  let database: TestDatabase;
  const services: TestService[] = [];

  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.stop()));
    await database.drop();
  });

  const start = async (...plugins: readonly (new () => object)[]) => {
    const url = urlOf(database);
    const service = await createTestService({ env: { DATABASE_URL: url }, plugins, pace: 10 });
    services.push(service);
    return service;
  };

  it('is notified of each change that another replica makes, once and in order', async () => {
    database = await engine.create();
    const other = await start();
    const of = <T>(type: new (...injected: never[]) => T): T => other.app.get(type, { strict: false });
    const { id: early } = await of(AccountsService).create({ email: 'early@example.com' });
    await of(AccountStates).disable({ id: early });

    const { seen } = (await start(CachePlugin)).app.get(Cache, { strict: false });
    const changed = async (count: number, change: () => Promise<unknown>) => {
      const before = seen.length;
      await change();
      await waitFor(() => seen.length >= before + count || undefined, 'the notification');
      return seen.slice(before);
    };
    // The first round has found the end of the log when a later change is notified.
    const { id } = await of(AccountsService).create({ email: 'ada@example.com' });
    const key = await of(ApiKeysService).create(id, { name: 'ci' });
    await of(SessionsService).create(id);
    await new Promise((resolve) => setTimeout(resolve, 1_000));

    expect(await changed(1, () => of(ApiKeysService).revoke(key.id))).toEqual([
      { action: 'key.revoked', accountId: id, credentialId: key.id },
    ]);
    const disabled = await changed(2, () => of(AccountStates).disable({ id }));
    expect(disabled).toContainEqual({
      action: 'session.ended',
      accountId: id,
      credentialId: expect.stringMatching(/^[\da-f]{12}$/) as string,
    });
    expect(disabled).toContainEqual({ action: 'account.disabled', accountId: id, credentialId: undefined });
    expect(await changed(1, () => of(AccountStates).enable({ id }))).toMatchObject([{ action: 'account.enabled' }]);
    expect(await changed(1, () => of(AccountStates).delete({ id }))).toMatchObject([
      { action: 'account.deleted', accountId: id },
    ]);
    expect(seen).toHaveLength(5);
  });
});
