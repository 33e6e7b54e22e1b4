import { getRepositoryToken } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { AccountStates } from '../../../src/accounts/accounts/account-states.js';
import { ApiKeyVerifier, LastUsedRecorder } from '../../../src/accounts/api-keys/api-key-verifier.js';
import { ApiKey } from '../../../src/accounts/api-keys/api-key.entity.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { AccountChanges } from '../../../src/accounts/credentials/account-changes.js';
import { CredentialWatch, type WatchedCredential } from '../../../src/accounts/ended/credential-watch.js';
import { CredentialDatabase } from '../../../src/platform/database/credential-database.js';
import { testEngines } from '../../support/database.js';
import { KNOWN_WITHIN_MS } from '../../support/known-within.js';
import { Latch } from '../../support/latch.js';
import { accountsSuite, createKey, openAccountsApp } from './accounts-app.js';

const PATIENCE = { timeout: 30_000 };

describe.each(await testEngines())('on $name', (engine) => {
  const suite = accountsSuite(engine, { processes: 2 });
  let repository: Repository<ApiKey>;

  beforeAll(() => {
    repository = suite.get(getRepositoryToken(ApiKey));
  });
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  describe('the watch of a credential', () => {
    const watched = () => suite.get(CredentialDatabase, { strict: false }).repository(ApiKey);
    const watch = (
      { id, accountId }: Awaited<ReturnType<typeof createKey>>,
      onEnded: () => void,
      more: Partial<WatchedCredential> = {},
    ) => suite.get(CredentialWatch).watch({ kind: 'api_key', id, accountId, ...more }, onEnded);

    it('notifies at once of a revocation in this process, once', async () => {
      const key = await createKey(suite.app, 'here@example.com');
      const onRevoked = vi.fn();
      watch(key, onRevoked);
      await suite.get(ApiKeysService).revoke(key.id);
      expect(onRevoked).toHaveBeenCalledTimes(1);
      await suite.get(ApiKeysService).revoke(key.id);
      expect(onRevoked).toHaveBeenCalledTimes(1);
    });

    it('notifies all watchers of a revocation in another process within a second, and of no other key', async () => {
      const revoked = await createKey(suite.app, 'there@example.com');
      const valid = await createKey(suite.app, 'valid@example.com');
      const [first, second, ofValid] = [vi.fn(), vi.fn(), vi.fn()];
      watch(revoked, first);
      watch(revoked, second);
      const unwatch = watch(valid, ofValid);
      await suite.other.get(ApiKeysService).revoke(revoked.id);
      const revokedAt = performance.now();
      expect(first).not.toHaveBeenCalled();
      await vi.waitFor(() => {
        expect([first, second].map((each) => each.mock.calls.length)).toEqual([1, 1]);
      }, PATIENCE);
      expect(performance.now() - revokedAt).toBeLessThan(KNOWN_WITHIN_MS);
      expect(ofValid).not.toHaveBeenCalled();
      unwatch();
    });

    it('notifies of a key that expires or whose account is deleted', async () => {
      const expiresAt = new Date(Date.now() + 500);
      const expiring = await createKey(suite.app, 'expiring@example.com', expiresAt);
      const deleted = await createKey(suite.app, 'deleted@example.com');
      const [onExpired, onDeleted] = [vi.fn(), vi.fn()];
      watch(expiring, onExpired, { expiresAt });
      watch(deleted, onDeleted);
      await suite.other.get(AccountStates).delete('deleted@example.com');
      vi.advanceTimersByTime(500);
      await vi.waitFor(() => {
        expect([onExpired, onDeleted].map((each) => each.mock.calls.length)).toEqual([1, 1]);
      }, PATIENCE);
    });

    it('notifies of an account that is disabled or deleted, for callers with a credential of a plugin', async () => {
      const emails = [
        'to-disable@example.com',
        'to-delete@example.com',
        'disabled-before@example.com',
        'stays@example.com',
      ];
      const ids: string[] = [];
      for (const email of emails) ids.push((await createKey(suite.app, email)).accountId);
      await suite.other.get(AccountStates).disable('disabled-before@example.com');
      const ended: string[] = [];
      const watchAccount = (id: string) =>
        suite.get(CredentialWatch).watch({ kind: 'account', id, accountId: id }, () => ended.push(id));
      const unwatch = [...ids, 'of-the-plugin'].map(watchAccount);
      await vi.waitFor(() => {
        expect(ended).toEqual([ids[2]]);
      }, PATIENCE);
      await suite.other.get(AccountStates).disable('to-disable@example.com');
      await suite.other.get(AccountStates).delete('to-delete@example.com');
      await suite.get(AccountChanges).notice([...ids, 'of-the-plugin']);
      await vi.waitFor(() => {
        expect(ended.toSorted()).toEqual(ids.slice(0, 3).toSorted());
      }, PATIENCE);
      for (const each of unwatch) each();
    });

    it('notifies at the new expiry date of a key', async () => {
      const key = await createKey(suite.app, 'shortened@example.com');
      const onExpired = vi.fn();
      watch(key, onExpired);
      await suite.get(ApiKeysService).update(key.id, { expiresAt: new Date(Date.now() + 500) });
      expect(onExpired).not.toHaveBeenCalled();
      vi.advanceTimersByTime(500);
      await vi.waitFor(() => {
        expect(onExpired).toHaveBeenCalledTimes(1);
      }, PATIENCE);
    });

    it('ends with its process', async () => {
      const stopping = await openAccountsApp(suite.database.config);
      const { id, accountId } = await createKey(suite.app, 'stopping@example.com');
      const onRevoked = vi.fn();
      stopping.get(CredentialWatch).watch({ kind: 'api_key', id, accountId }, onRevoked);

      await stopping.close();

      await suite.get(ApiKeysService).revoke(id);
      await stopping.get(AccountChanges).notice([accountId]);
      expect(onRevoked).not.toHaveBeenCalled();
    });

    it('a key that is revoked while its row is on the way is refused', async () => {
      const { id, key } = await createKey(suite.app, 'on-the-way@example.com');
      const builder = watched().createQueryBuilder('key');
      const getMany = builder.getMany.bind(builder);
      const [wasRead, arrival] = [new Latch(), new Latch()];
      vi.spyOn(builder, 'getMany').mockImplementationOnce(async () => {
        const rows = await getMany();
        wasRead.open();
        await arrival.opened;
        return rows;
      });
      vi.spyOn(watched(), 'createQueryBuilder').mockReturnValueOnce(builder);
      const verified = suite.get(ApiKeyVerifier).verify(key);
      await wasRead.opened;
      await suite.get(ApiKeysService).revoke(id);

      arrival.open();

      expect(await verified).toBeUndefined();
    });

    it('notifies of a key that has ended after it was read, after the caller has continued', async () => {
      const key = await createKey(suite.app, 'ended@example.com');
      const { position: readAt } = suite.get(AccountChanges);
      await suite.get(ApiKeysService).revoke(key.id);
      const [first, second] = [vi.fn(), vi.fn()];
      watch(key, first, { readAt });
      watch(key, second, { readAt })();
      expect(first).not.toHaveBeenCalled();
      await vi.waitFor(() => {
        expect(first).toHaveBeenCalledTimes(1);
      }, PATIENCE);
      expect(second).not.toHaveBeenCalled();
    });

    it('sends one query for a thousand watchers of a key, and only when its account changes', async () => {
      const key = await createKey(suite.app, 'many@example.com');
      const find = vi.spyOn(watched(), 'find');
      const unwatch = Array.from({ length: 1000 }, () => watch(key, vi.fn()));
      await suite.get(AccountChanges).notice(['another account']);
      expect(find).not.toHaveBeenCalled();
      await suite.get(AccountChanges).notice([key.accountId]);
      expect(find).toHaveBeenCalledTimes(1);
      for (const each of unwatch) each();
      for (const each of unwatch) each();
      expect(suite.get(CredentialWatch).size).toBe(0);
    });

    it('ends no stream because a query fails, and queries again', async () => {
      const key = await createKey(suite.app, 'failing@example.com');
      const onRevoked = vi.fn();
      watch(key, onRevoked);
      const find = vi.spyOn(watched(), 'find').mockRejectedValueOnce(new Error('The database is unavailable.'));
      await suite.get(ApiKeysService).revoke(key.id);
      expect(find).toHaveBeenCalledTimes(1);
      expect(onRevoked).not.toHaveBeenCalled();
      await vi.waitFor(() => {
        expect(onRevoked).toHaveBeenCalledTimes(1);
      }, PATIENCE);
    });
  });

  describe('the moment of last use', () => {
    const lastUsedAt = async (id: string) => (await repository.findOneByOrFail({ id })).lastUsedAt;
    const writtenAs = (id: string, moment: number | Date) =>
      vi.waitFor(async () => {
        expect(await lastUsedAt(id)).toEqual(new Date(moment));
      }, PATIENCE);

    it('is written within a second of the first use', async () => {
      const { id } = await createKey(suite.app, 'used@example.com');
      const usedAt = Date.now();
      suite.get(LastUsedRecorder).touch(id);
      expect(await lastUsedAt(id)).toBeNull();
      vi.advanceTimersByTime(1000);
      await writtenAs(id, usedAt);
      await suite.get(LastUsedRecorder).flush();
    });

    it('is written once a minute however many requests there are, and for many keys in one statement', async () => {
      const recorder = suite.get(LastUsedRecorder);
      const ids: string[] = [];
      for (const n of [1, 2, 3]) ids.push((await createKey(suite.app, `busy-${n}@example.com`)).id);
      const statements = vi.spyOn(repository, 'createQueryBuilder');
      for (let second = 0; second < 59; second++) {
        for (let request = 0; request < 100; request++) for (const id of ids) recorder.touch(id);
        await vi.advanceTimersByTimeAsync(1000);
        await statements.mock.results[0]?.value;
      }
      await recorder.flush();
      // One for the first use, one for the flush.
      expect(statements).toHaveBeenCalledTimes(2);
    });

    it('is written again a minute later', async () => {
      const { id } = await createKey(suite.app, 'later@example.com');
      const recorder = suite.get(LastUsedRecorder);
      recorder.touch(id);
      await recorder.flush();
      vi.advanceTimersByTime(1000);
      const usedAt = Date.now();
      recorder.touch(id);
      vi.advanceTimersByTime(58_000);
      expect(await lastUsedAt(id)).not.toEqual(new Date(usedAt));
      vi.advanceTimersByTime(2000);
      await writtenAs(id, usedAt);
    });

    it('does not go back when another replica has written a later one', async () => {
      const { id } = await createKey(suite.app, 'replica@example.com');
      suite.get(LastUsedRecorder).touch(id);
      vi.advanceTimersByTime(100);
      const later = Date.now();
      suite.other.get(LastUsedRecorder).touch(id);
      await suite.other.get(LastUsedRecorder).flush();
      await suite.get(LastUsedRecorder).flush();
      expect(await lastUsedAt(id)).toEqual(new Date(later));
    });

    it('is tried again after a failed write', async () => {
      const { id } = await createKey(suite.app, 'retry@example.com');
      const usedAt = Date.now();
      suite.get(LastUsedRecorder).touch(id);
      vi.spyOn(repository, 'createQueryBuilder').mockImplementationOnce(() => {
        throw new Error('The database is unavailable.');
      });
      await vi.advanceTimersByTimeAsync(1000);
      expect(await lastUsedAt(id)).toBeNull();
      vi.advanceTimersByTime(1000);
      await writtenAs(id, usedAt);
    });

    it('is written when the process stops', async () => {
      const { id } = await createKey(suite.app, 'stop@example.com');
      const stopping = await openAccountsApp(suite.database.config);
      stopping.get(LastUsedRecorder).touch(id);
      await stopping.close();
      expect(await lastUsedAt(id)).toEqual(new Date());
    });
  });
});
