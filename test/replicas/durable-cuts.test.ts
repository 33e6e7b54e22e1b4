import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Script } from '../support/scripted-provider.js';
import { readInPieces } from './support/cut-reader.js';
import { Replicas } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();
/** `DURABLE_CUTS=1000` runs the whole suite. */
const RUNS = Number(process.env['DURABLE_CUTS'] ?? 60);
const AT_ONCE = 20;
const MOST_CUTS = 6;
const LIMIT_MS = 60_000 + RUNS * 2_000;

const ALPHABET = ['a', 'bc ', 'é', '漢', '🦊', '👩‍👩‍👧', '\u2028', '"', '\\', '\n', '</p>', 'x'.repeat(40)];

/** An answer that depends on the question only, so that a second call would give the same text. */
function piecesOf(question: string): string[] {
  let state = Buffer.from(question).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7);
  const next = (below: number): number => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return Array.from({ length: 20 + next(60) }, () =>
    Array.from({ length: 1 + next(12) }, () => ALPHABET[next(ALPHABET.length)]).join(''),
  );
}

const answerInPieces: Script = async (call) => {
  const { messages } = call.json as { messages: { content: string }[] };
  call.head();
  for (const piece of piecesOf(messages[0]?.content ?? '')) {
    call.text(piece);
    if (Math.random() < 0.5) await sleep(Math.random() * 40);
  }
  call.finish().endMarker().end();
};

describe.skipIf(stores === undefined)('a durable stream whose readers are cut at random bytes', () => {
  let replicas: Replicas;

  beforeAll(async () => {
    replicas = await Replicas.start(stores as NonNullable<typeof stores>);
    replicas.provider.answers(answerInPieces);
  }, 180_000);
  afterAll(async () => {
    await replicas.stop();
    await stores?.redis.drop();
  }, 60_000);

  it(
    'gives every character once, at any replica, with one call to the provider',
    async () => {
      const { key } = await replicas.createKey();
      const names = Array.from({ length: RUNS }, (_, index) => `run-${index}`);
      let connections = 0;
      const runs = Array.from({ length: AT_ONCE }, async () => {
        for (let name = names.pop(); name !== undefined; name = names.pop()) {
          const cuts = Math.floor(Math.random() * (MOST_CUTS + 1));
          const read = await readInPieces({ origins: replicas.origins, key, name, content: name, cuts });
          expect(read.text).toBe(piecesOf(name).join(''));
          expect(read.terminals).toEqual(['done']);
          connections += read.connections;
        }
      });
      await Promise.all(runs);

      expect(replicas.provider.calls).toHaveLength(RUNS);
      expect(connections).toBeGreaterThan(RUNS);
    },
    LIMIT_MS,
  );
});
