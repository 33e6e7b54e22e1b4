import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Script } from '../../src/testing/provider/scripted-provider.js';
import { readInPieces, type CutReading } from './support/cut-reader.js';
import { hasNginx, startNginx } from './support/nginx.js';
import { Replicas } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();
/** `DURABLE_CUTS=1000` runs the whole suite. */
const RUNS = Number(process.env['DURABLE_CUTS'] ?? 60);
const AT_ONCE = 20;
const MAX_CUTS = 6;
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

const shifted = (days: number) => ({
  NODE_OPTIONS: `--import ${new URL('support/shifted-clock.mjs', import.meta.url).href}`,
  CLOCK_SHIFT_MS: String(days * 86_400_000),
});

describe.skipIf(stores === undefined)('a durable stream whose readers are cut at random bytes', () => {
  let replicas: Replicas;
  let key: string;

  beforeAll(async () => {
    const envs = [shifted(0), shifted(40), shifted(-40)];
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, { envs });
    replicas.provider.answers(answerInPieces);
    ({ key } = await replicas.createKey());
  }, 180_000);
  afterAll(async () => {
    await replicas.stop();
    await stores?.redis.drop();
  }, 60_000);

  /** Reads so many streams, some at a time. */
  async function readAll(
    prefix: string,
    count: number,
    judge: (read: CutReading, text: string) => void,
    origins: readonly string[] = replicas.origins,
  ): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
    const readers = Array.from({ length: AT_ONCE }, async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        const cuts = Math.floor(Math.random() * (MAX_CUTS + 1));
        const read = await readInPieces({ origins, key, name, content: name, cuts });
        judge(read, piecesOf(name).join(''));
      }
    });
    await Promise.all(readers);
  }

  it(
    'sends every character once, at any replica, with one call to the provider',
    async () => {
      let connections = 0;
      await readAll('run', RUNS, (read, text) => {
        expect(read.text).toBe(text);
        expect(read.terminals).toEqual(['done']);
        connections += read.connections;
      });

      expect(replicas.provider.calls).toHaveLength(RUNS);
      expect(connections).toBeGreaterThan(RUNS);
    },
    LIMIT_MS,
  );

  it.skipIf(!hasNginx)(
    'sends every character once through nginx, which sends each request to the next replica',
    async () => {
      const nginx = await startNginx(replicas.origins);
      const before = replicas.provider.calls.length;
      try {
        const judge = (read: CutReading, text: string): void => {
          expect(read).toMatchObject({ text, terminals: ['done'] });
        };
        await readAll('nginx', RUNS, judge, [nginx.origin]);
      } finally {
        await nginx.stop();
      }
      expect(replicas.provider.calls).toHaveLength(before + RUNS);
    },
    LIMIT_MS,
  );
});
