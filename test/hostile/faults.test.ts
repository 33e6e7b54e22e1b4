import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAi } from '../../src/testing/provider/dialects.js';
import { Latch } from '../support/latch.js';
import type { ProviderCall } from '../../src/testing/provider/provider-call.js';
import { get, openStream } from '../support/sse-client.js';
import { setStage, type Stage } from '../support/stage.js';
import { readWire, type Wire } from '../support/wire.js';

const RUNS = 120;
const IDLE_MS = 2_000;
const TERMINALS = ['done', 'upstream_error', 'upstream_timeout', 'upstream_unavailable', 'upstream_rejected'];

type Ending = 'end' | 'reset' | 'fin';

/** The pieces of an answer, with the places where its bytes are split. */
const answers = fc.record({
  texts: fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 8 }),
  splits: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
  paced: fc.boolean(),
});
const place = fc.double({ min: 0, max: 1, noNaN: true });
const ending = fc.constantFrom<Ending>('end', 'reset', 'fin');

describe('whatever happens to the bytes of a provider', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setStage(1, { timeouts: { first_token_ms: IDLE_MS, idle_ms: IDLE_MS } });
    stage.provider.closesConnections();
  });
  afterAll(() => stage.clear());

  const bytesOf = (texts: readonly string[]) =>
    Buffer.from(texts.map((text) => openAi.text(text)).join('') + openAi.finish('stop') + openAi.endMarker);

  async function replay(bytes: Buffer, splits: readonly number[], paced: boolean, end: Ending): Promise<Wire> {
    const cuts = [...new Set(splits.map((at) => Math.floor(at * bytes.length)))].sort((one, other) => one - other);
    stage.provider.next(async (call: ProviderCall) => {
      call.head();
      let from = 0;
      for (const to of [...cuts, bytes.length]) {
        if (to > from) call.write(bytes.subarray(from, to));
        from = to;
        if (paced) await new Promise(setImmediate);
      }
      if (end === 'end') call.end();
      else await call.cut(end);
    });
    const answer = await openStream(stage.origin, { key: stage.key });
    const raw = await answer.body();
    if (answer.status !== 200) {
      const { code } = await answer.error();
      expect(TERMINALS).toContain(code);
      // As many failures as here would make the provider count as dead.
      stage.provider.next((call) => {
        call.answer('Hi');
      });
      await (
        await openStream(stage.origin, { key: stage.key })
      ).over;
      return { texts: [], text: '', keepAlives: 0, terminal: code, rest: '' };
    }
    const wire = readWire(raw);
    expect(await answer.over).toBe('ended');
    expect(wire.rest).toBe('');
    expect(TERMINALS).toContain(wire.terminal);
    return wire;
  }

  it('sends the whole text when they are split and delayed only', async () => {
    await fc.assert(
      fc.asyncProperty(answers, async ({ texts, splits, paced }) => {
        const wire = await replay(bytesOf(texts), splits, paced, 'end');
        expect(wire).toMatchObject({ text: texts.join(''), terminal: 'done' });
      }),
      { numRuns: RUNS },
    );
  });

  it('sends a prefix of the text, and reports it as complete only when it is, when they are cut', async () => {
    await fc.assert(
      fc.asyncProperty(answers, place, ending, async ({ texts, splits, paced }, at, end) => {
        const whole = bytesOf(texts);
        const cut = whole.subarray(0, Math.floor(at * (whole.length + 1)));
        const { text, terminal } = await replay(cut, splits, paced, end);

        expect(texts.join('').startsWith(text)).toBe(true);
        // A reset may take with it what is on its way, so nothing else follows from it.
        const finishedAt = whole.length - Buffer.byteLength(openAi.endMarker) - '\n\n'.length;
        if (cut.length < finishedAt) expect(terminal).not.toBe('done');
        if (terminal === 'done') expect(text).toBe(texts.join(''));
        if (end !== 'reset' && cut.length === whole.length) expect(terminal).toBe('done');
      }),
      { numRuns: RUNS },
    );
  });

  it('sends a well-formed stream with one end when they are garbled, and does not crash', async () => {
    const garbling = fc.record({
      at: place,
      kind: fc.constantFrom('flip', 'insert', 'delete', 'repeat'),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 30 }),
    });
    await fc.assert(
      fc.asyncProperty(
        answers,
        fc.array(garbling, { minLength: 1, maxLength: 4 }),
        ending,
        async (answer, garblings, end) => {
          let bytes = bytesOf(answer.texts);
          for (const { at, kind, bytes: noise } of garblings) {
            const index = Math.floor(at * bytes.length);
            const [head, tail] = [bytes.subarray(0, index), bytes.subarray(index)];
            if (kind === 'flip') bytes = Buffer.concat([head, noise, tail.subarray(noise.length)]);
            else if (kind === 'insert') bytes = Buffer.concat([head, noise, tail]);
            else if (kind === 'delete') bytes = Buffer.concat([head, tail.subarray(noise.length)]);
            else bytes = Buffer.concat([head, tail.subarray(0, noise.length * 4), tail]);
          }
          await replay(bytes, answer.splits, answer.paced, end);
        },
      ),
      { numRuns: RUNS },
    );
    expect((await get(stage.origin, '/api/v1/health')).status).toBe(200);
  });

  it('goes on serving others meanwhile', async () => {
    const latch = new Latch();
    stage.provider.next(async (call) => {
      call.head().text('Hi');
      await latch.opened;
      call.finish().endMarker().end();
    });
    const answer = await openStream(stage.origin, { key: stage.key });
    latch.open();
    expect(readWire(await answer.body())).toMatchObject({ text: 'Hi', terminal: 'done' });
  });
});
