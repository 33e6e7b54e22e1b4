import { getRepositoryToken } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiKeyVerifier } from '../../../src/accounts/api-keys/api-key-verifier.js';
import { ApiKey } from '../../../src/accounts/api-keys/api-key.entity.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { LastUsedRecorder } from '../../../src/accounts/api-keys/last-used-recorder.js';
import { RevocationWatch } from '../../../src/accounts/api-keys/revocation-watch.js';
import { CredentialDatabase } from '../../../src/database/credential-database.js';
import { testEngines } from '../../support/database.js';
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

  describe('the revocation watch', () => {
    const watched = () => suite.get(CredentialDatabase, { strict: false }).repository(ApiKey);

    it('notifies at once of a revocation in this process, once', async () => {
      const { id } = await createKey(suite.app, 'here@example.com');
      const onRevoked = vi.fn();
      suite.get(RevocationWatch).watch(id, onRevoked);
      await suite.get(ApiKeysService).revoke(id);
      expect(onRevoked).toHaveBeenCalledTimes(1);
      await suite.get(ApiKeysService).revoke(id);
      expect(onRevoked).toHaveBeenCalledTimes(1);
      expect(vi.getTimerCount()).toBe(0);
    });

    it('notifies all watchers of a revocation in another process at the next poll, and of no other key', async () => {
      const revoked = await createKey(suite.app, 'there@example.com');
      const valid = await createKey(suite.app, 'valid@example.com');
      const [first, second, ofValid] = [vi.fn(), vi.fn(), vi.fn()];
      const watch = suite.get(RevocationWatch);
      watch.watch(revoked.id, first);
      watch.watch(revoked.id, second);
      const unwatch = watch.watch(valid.id, ofValid);
      await suite.other.get(ApiKeysService).revoke(revoked.id);
      expect(first).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1000);
      await vi.waitFor(() => {
        expect([first, second].map((each) => each.mock.calls.length)).toEqual([1, 1]);
      }, PATIENCE);
      expect(ofValid).not.toHaveBeenCalled();
      unwatch();
    });

    it('notifies of a key that expires or is deleted', async () => {
      const expiring = await createKey(suite.app, 'expiring@example.com', new Date(Date.now() + 500));
      const deleted = await createKey(suite.app, 'deleted@example.com');
      const [onExpired, onDeleted] = [vi.fn(), vi.fn()];
      suite.get(RevocationWatch).watch(expiring.id, onExpired);
      suite.get(RevocationWatch).watch(deleted.id, onDeleted);
      await repository.delete({ id: deleted.id });
      vi.advanceTimersByTime(1000);
      await vi.waitFor(() => {
        expect([onExpired, onDeleted].map((each) => each.mock.calls.length)).toEqual([1, 1]);
      }, PATIENCE);
    });

    it('ends with its process', async () => {
      const stopping = await openAccountsApp(suite.database.config);
      const { id } = await createKey(suite.app, 'stopping@example.com');
      const onRevoked = vi.fn();
      const before = vi.getTimerCount();
      stopping.get(RevocationWatch).watch(id, onRevoked);
      expect(vi.getTimerCount()).toBe(before + 1);

      await stopping.close();

      expect(vi.getTimerCount()).toBeLessThanOrEqual(before);
      await suite.get(ApiKeysService).revoke(id);
      stopping.get(RevocationWatch).notify(id);
      expect(onRevoked).not.toHaveBeenCalled();
    });

    it('keeps the end of a key that is revoked while its row is on the way', async () => {
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
      expect(suite.get(RevocationWatch).hasEnded(id)).toBe(true);
    });

    it('notifies of a key that has ended already, after the caller has continued', async () => {
      const { id } = await createKey(suite.app, 'ended@example.com');
      await suite.get(ApiKeysService).revoke(id);
      const [first, second] = [vi.fn(), vi.fn()];
      const watch = suite.get(RevocationWatch);
      watch.watch(id, first);
      watch.watch(id, second)();
      expect(first).not.toHaveBeenCalled();
      await Promise.resolve();
      expect(first).toHaveBeenCalledTimes(1);
      expect(second).not.toHaveBeenCalled();
      expect(vi.getTimerCount()).toBe(0);
    });

    it('sends no query while nothing is watched', async () => {
      const { id } = await createKey(suite.app, 'idle@example.com');
      const watch = suite.get(RevocationWatch);
      expect(vi.getTimerCount()).toBe(0);
      const unwatch = [watch.watch(id, vi.fn()), watch.watch(id, vi.fn())];
      expect(vi.getTimerCount()).toBe(1);
      for (const each of unwatch) each();
      for (const each of unwatch) each();
      expect(vi.getTimerCount()).toBe(0);
    });

    it('sends one query for a thousand watchers of some keys', async () => {
      const { id } = await createKey(suite.app, 'many@example.com');
      const find = vi.spyOn(watched(), 'find');
      const unwatch = Array.from({ length: 1000 }, () => suite.get(RevocationWatch).watch(id, vi.fn()));
      vi.advanceTimersByTime(1000);
      await find.mock.results[0]?.value;
      expect(find).toHaveBeenCalledTimes(1);
      for (const each of unwatch) each();
    });

    it('ends no stream because a query fails, and queries again', async () => {
      const { id } = await createKey(suite.app, 'failing@example.com');
      const onRevoked = vi.fn();
      suite.get(RevocationWatch).watch(id, onRevoked);
      const find = vi.spyOn(watched(), 'find').mockRejectedValueOnce(new Error('The database is unavailable.'));
      await vi.advanceTimersByTimeAsync(1000);
      expect(find).toHaveBeenCalledTimes(1);
      expect(onRevoked).not.toHaveBeenCalled();
      await suite.other.get(ApiKeysService).revoke(id);
      vi.advanceTimersByTime(1000);
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
