import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/common/service-error.js';
import { ShedLoad } from '../../../src/common/shed-load.js';
import { parseStreamId, requestKey, type RequestKey } from '../../../src/chat/durable/identity/stream-identity.js';
import { CLAIM_RELEASED, type StreamLog } from '../../../src/chat/durable/log/stream-log.js';
import { StreamMemory } from '../../../src/chat/durable/log/stream-memory.js';
import type { StoredStream, OwnStream, StreamStore } from '../../../src/chat/durable/store/stream-store.js';
import { waitFor } from '../../support/wait-for.js';

export const ACCOUNT = 'account-1';
const DONE = { kind: 'done' } as const;
const BODY = { model: 'acme/fast', messages: [{ role: 'user', content: 'Hello' }] };

/** One backing store, as two replicas see it. A store without replicas gives the same object twice. */
export interface StoreHarness {
  open(retentionMs: number): Promise<readonly [here: StreamStore, there: StreamStore]>;
  close(): Promise<void>;
}

export function memoryOf(megabytes = 64): StreamMemory {
  return new StreamMemory({ streamMemoryBytes: megabytes * 1024 * 1024 }, new ShedLoad());
}

export function newKey(body: object = BODY, name: string = randomUUID()): Promise<RequestKey> {
  return requestKey(ACCOUNT, name, body);
}

/** Claims a key that must be free. Like any client, asks again where a busy machine made the store unavailable. */
export async function claimNew(store: StreamStore, key?: RequestKey): Promise<OwnStream & { leave(): void }> {
  const tryClaim = async () => {
    try {
      return await store.claim(key ?? (await newKey()), 0);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unavailable') return undefined;
      throw error;
    }
  };
  const claim = await waitFor(tryClaim, 'the store to be available');
  if (claim.outcome !== 'new') throw new Error(`The outcome is ${claim.outcome}.`);
  return Object.assign(claim.stream, { leave: claim.leave });
}

/** All text of a log, read in small steps. */
export function textOf(log: StreamLog): string {
  let text = '';
  for (let more = log.read(0, 3); more !== undefined; more = log.read(text.length, 3)) text += more;
  return text;
}

/** What every store of durable streams must do. */
export function describeStreamStore(name: string, harness: StoreHarness): void {
  describe(`durable streams in ${name}`, () => {
    let here: StreamStore;
    let there: StreamStore;

    beforeEach(async () => {
      [here, there] = await harness.open(60_000);
    });
    afterEach(() => harness.close());

    const found = async (stream: OwnStream, account = ACCOUNT): Promise<StoredStream | undefined> => {
      const address = parseStreamId(stream.id);
      if (address === undefined) throw new Error('The id cannot be parsed.');
      return there.find(address, account);
    };
    const read = async (stream: OwnStream): Promise<StreamLog> => {
      const kept = await found(stream);
      if (kept === undefined) throw new Error('The stream is not there.');
      const leave = await kept.enter();
      await kept.log.begun;
      await waitFor(() => kept.log.ending !== undefined, 'the ending');
      const { log } = kept;
      leave();
      return log;
    };

    it('have one owner of many simultaneous claims, and lead the others to the same stream', async () => {
      const key = await newKey();
      const claims = await Promise.all(
        Array.from({ length: 40 }, (_, index) => (index % 2 ? here : there).claim(key, 0)),
      );

      expect(claims.filter(({ outcome }) => outcome === 'new')).toHaveLength(1);
      const ids = claims.map((claim) => (claim.outcome === 'conflict' ? 'conflict' : claim.stream.id));
      expect(new Set(ids).size).toBe(1);
      expect(await there.knows(key.locator)).toBe(true);
    });

    it('refuse another body under the same key', async () => {
      await claimNew(here, await newKey(BODY, 'two bodies'));

      expect(await there.claim(await newKey({ ...BODY, max_tokens: 5 }, 'two bodies'), 0)).toEqual({
        outcome: 'conflict',
      });
    });

    it('are read from the beginning after the end, with every character', async () => {
      const stream = await claimNew(here);
      stream.log.begin();
      const texts = ['Hello ', '🦊', '\u2028', 'é'.repeat(5_000), '漢字', 'x'.repeat(70_000), '\ud83d'];
      for (const text of texts) stream.log.append(text);
      stream.log.end(DONE);

      const log = await read(stream);

      expect(textOf(log)).toBe(texts.join(''));
      expect(log.ending).toEqual(DONE);
    });

    it('are followed while they run, without a gap', async () => {
      const stream = await claimNew(here);
      stream.log.begin();
      stream.log.append('before ');
      const kept = await found(stream);
      const leave = await kept?.enter();
      await kept?.log.begun;
      let seen = '';
      kept?.log.follow(() => {
        seen = textOf(kept.log);
      });
      for (const word of ['one ', 'two ', 'three']) {
        stream.log.append(word);
        await waitFor(() => seen.endsWith(word), 'the word to arrive');
      }
      stream.log.end({ kind: 'failed', code: 'upstream_error', message: 'It failed.' });
      await waitFor(() => kept?.log.ending !== undefined, 'the ending');

      expect(seen).toBe('before one two three');
      expect(kept?.log.ending).toEqual({ kind: 'failed', code: 'upstream_error', message: 'It failed.' });
      leave?.();
    });

    it('are not found by another account, or with another secret', async () => {
      const stream = await claimNew(here);
      const address = parseStreamId(stream.id);
      if (address === undefined) throw new Error('The id cannot be parsed.');
      const wrong = Buffer.from(address.secret);
      wrong.writeUInt8(wrong.readUInt8(0) ^ 1, 0);

      expect(await found(stream)).toBeDefined();
      expect(await found(stream, 'account-2')).toBeUndefined();
      expect(await there.find({ ...address, secret: wrong }, ACCOUNT)).toBeUndefined();
      expect(await there.find({ ...address, locator: '00'.repeat(16) }, ACCOUNT)).toBeUndefined();
    });

    it('report a failure before the beginning to the waiting readers, and release the key', async () => {
      const key = await newKey();
      const stream = await claimNew(here, key);
      const claim = await there.claim(key, 0);
      if (claim.outcome !== 'found') throw new Error('The stream is not found.');
      const leave = await claim.stream.enter();
      const { begun } = claim.stream.log;
      stream.leave();

      stream.abandon(new ServiceError('upstream_rejected', 'Too long.', { status: 413, retryAfterSeconds: 7 }));

      await expect(begun).rejects.toMatchObject({
        code: 'upstream_rejected',
        message: 'Too long.',
        retryAfterSeconds: 7,
      });
      leave();
      await waitFor(async () => !(await there.knows(key.locator)), 'the key to be free');
      await claimNew(there, key);
    });

    it('let those who wait claim the key when its owner gives it up', async () => {
      const key = await newKey();
      const stream = await claimNew(here, key);
      const claim = await there.claim(key, 0);
      if (claim.outcome !== 'found') throw new Error('The stream is not found.');
      const leave = await claim.stream.enter();
      const { begun } = claim.stream.log;
      stream.leave();

      stream.abandon(CLAIM_RELEASED);

      await expect(begun).rejects.toBe(CLAIM_RELEASED);
      leave();
    });

    it('have four readers at most, wherever they are, and count them', async () => {
      const stream = await claimNew(here);
      const kept = await found(stream);
      const leaves = [await stream.enter(), await kept?.enter(), await kept?.enter()];

      await expect(stream.enter()).rejects.toMatchObject({ code: 'concurrency_limit_exceeded' });
      await expect(kept?.enter()).rejects.toMatchObject({ code: 'concurrency_limit_exceeded' });
      expect(await stream.readers()).toBeGreaterThan(0);
      for (const leave of [...leaves, stream.leave]) leave?.();
      await waitFor(async () => (await stream.readers()) === 0, 'the readers to leave');
    });

    it('are cancelled from anywhere', async () => {
      const stream = await claimNew(here);
      stream.log.begin();
      stream.onStop = ({ code, message }) => {
        stream.log.end({ kind: 'failed', code, message });
      };

      await (await found(stream))?.cancel();

      expect(stream.log.ending).toMatchObject({ code: 'cancelled' });
      await (await found(stream))?.cancel();
    });

    it('are deleted when they are dropped, and their readers still get the ending', async () => {
      const key = await newKey();
      const stream = await claimNew(here, key);
      stream.log.begin();
      const kept = await found(stream);
      const leave = await kept?.enter();
      await kept?.log.begun;

      stream.log.end({ kind: 'failed', code: 'key_revoked', message: 'Revoked.' });
      stream.drop();

      await waitFor(() => kept?.log.ending, 'the ending');
      expect(kept?.log.ending).toMatchObject({ code: 'key_revoked' });
      leave?.();
      await waitFor(async () => (await found(stream)) === undefined, 'the stream to be gone');
      expect(await there.knows(key.locator)).toBe(false);
    });

    it('are gone after their retention', async () => {
      await harness.close();
      [here, there] = await harness.open(300);
      const key = await newKey();
      const stream = await claimNew(here, key);
      stream.log.begin();
      stream.log.end(DONE);

      await waitFor(async () => (await found(stream)) === undefined, 'the stream to be gone');

      await claimNew(there, key);
    });
  });
}
