import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/platform/common/service-error.js';
import { ShedLoad } from '../../../src/platform/common/shed-load.js';
import { parseStreamId, requestKey, type RequestKey } from '../../../src/plugins/durable/stream-identity.js';
import { CLAIM_RELEASED, type Ending } from '../../../src/plugins/durable/log/stream-log.js';
import { StreamMemory } from '../../../src/plugins/durable/log/stream-memory.js';
import type {
  StoredStream,
  OwnStream,
  StreamReading,
  StreamStore,
} from '../../../src/plugins/durable/store/stream-store.js';
import type { CompletionPart } from '../../../src/upstreams/contract/stream-part.js';
import { waitFor } from '../../support/wait-for.js';

export const ACCOUNT = 'account-1';
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
  return Object.assign(claim.stream, { leave: claim.reading.leave });
}

/** What a reader has of a stream. */
export class Follower {
  text = '';
  readonly parts: CompletionPart[] = [];

  /** Reads in small steps, as far as the parts have arrived. */
  constructor(readonly reading: StreamReading) {
    const { source } = reading;
    const readOn = (): void => {
      for (let part = source.read(3); part !== undefined; part = source.read(3)) {
        if (part.type === 'text') this.text += part.text;
        else this.parts.push(part);
      }
    };
    source.onMore = readOn;
    readOn();
  }

  get ending(): Ending | undefined {
    return this.reading.source.ending;
  }

  async ended(): Promise<Ending> {
    return waitFor(() => this.ending, 'the ending');
  }
}

export function text(content: string): CompletionPart {
  return { type: 'text', text: content };
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
    const follow = async (stream: OwnStream): Promise<Follower> => {
      const kept = await found(stream);
      if (kept === undefined) throw new Error('The stream is not there.');
      return new Follower(await kept.enter());
    };
    const started = async (key?: RequestKey) => {
      const stream = await claimNew(here, key);
      await stream.begin(undefined);
      return stream;
    };

    it('refuse another body under the same key', async () => {
      await claimNew(here, await newKey(BODY, 'two bodies'));

      expect(await there.claim(await newKey({ ...BODY, max_tokens: 5 }, 'two bodies'), 0)).toEqual({
        outcome: 'conflict',
      });
    });

    it('are read from the beginning after the end, with every character and every part', async () => {
      const stream = await claimNew(here);
      await stream.begin({ id: 'answer-1' });
      const texts = ['Hello ', '🦊', '\u2028', 'é'.repeat(5_000), '漢字', 'x'.repeat(70_000), '\ud83d'];
      const usage: CompletionPart = { type: 'usage', usage: { inputTokens: 3 } };
      for (const content of texts) stream.log.append(text(content));
      stream.log.append(usage);
      stream.log.append(text('.'));
      const ending = { kind: 'done', facts: { cost: 4 } } as const;
      expect(await stream.end(ending)).toEqual(ending);

      const follower = await follow(stream);

      expect(await follower.reading.source.started).toEqual({ id: 'answer-1' });
      expect(await follower.ended()).toEqual(ending);
      expect(follower.text).toBe(`${texts.join('')}.`);
      expect(follower.parts).toEqual([usage]);
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
      const { source, leave } = await claim.stream.enter();
      const { started } = source;
      stream.leave();

      stream.abandon(new ServiceError('upstream_rejected', 'Too long.', { status: 413, retryAfterSeconds: 7 }));

      await expect(started).rejects.toMatchObject({
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
      const { source, leave } = await claim.stream.enter();
      const { started } = source;
      stream.leave();

      stream.abandon(CLAIM_RELEASED);

      await expect(started).rejects.toBe(CLAIM_RELEASED);
      leave();
    });

    it('have four readers at most, wherever they are, and count them', async () => {
      const stream = await claimNew(here);
      const kept = await found(stream);
      const readings = [await stream.enter(), await kept?.enter(), await kept?.enter()];

      await expect(stream.enter()).rejects.toMatchObject({ code: 'concurrency_limit_exceeded' });
      await expect(kept?.enter()).rejects.toMatchObject({ code: 'concurrency_limit_exceeded' });
      expect(stream.readers).toBeGreaterThan(0);
      for (const reading of readings) reading?.leave();
      stream.leave();
      await waitFor(() => stream.readers === 0, 'the readers to leave');
    });

    it('are cancelled from anywhere', async () => {
      const stream = await started();
      stream.onStop = ({ code, message }) => {
        void stream.end({ kind: 'failed', code, message });
      };

      await (await found(stream))?.cancel();

      expect(stream.log.ending).toMatchObject({ code: 'cancelled' });
      await (await found(stream))?.cancel();
    });

    it('are deleted when they are dropped, and their readers still get the ending', async () => {
      const key = await newKey();
      const stream = await started(key);
      const follower = await follow(stream);
      await follower.reading.source.started;

      stream.drop();
      await stream.end({ kind: 'failed', code: 'key_revoked', message: 'Revoked.' });

      expect(await follower.ended()).toMatchObject({ code: 'key_revoked' });
      follower.reading.leave();
      await waitFor(async () => (await found(stream)) === undefined, 'the stream to be gone');
      expect(await there.knows(key.locator)).toBe(false);
    });

    it('free their key when they are forgotten, but only after their end', async () => {
      const key = await newKey();
      const stream = await started(key);
      await stream.end({ kind: 'failed', code: 'interrupted', message: 'It was.' });

      await (await found(stream))?.forget();

      expect(await found(stream)).toBeUndefined();
      expect((await there.claim(key, 0)).outcome).toBe('new');
    });
  });
}
